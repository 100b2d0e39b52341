-- A duplicate name is reported after the statement has been analysed.
PREPARE taken AS SELECT 1
PREPARE taken AS SELECT nothing_there
PREPARE taken (no_such_type) AS SELECT 1
PREPARE taken AS SELECT * FROM no_such_table
PREPARE taken AS SELECT $1
PREPARE taken AS SELECT 2
EXECUTE taken
DEALLOCATE taken
BEGIN; DECLARE cursor_taken CURSOR FOR SELECT 1; DECLARE cursor_taken CURSOR FOR SELECT nothing_there; ROLLBACK
BEGIN; DECLARE cursor_taken CURSOR FOR SELECT 1; DECLARE cursor_taken CURSOR FOR SELECT 1; ROLLBACK
