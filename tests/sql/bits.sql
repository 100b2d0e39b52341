-- Bit strings.
SELECT B'[[101¦¦1¦00001111]]', X'[[1f¦¦Ab3]]', b'[[2¦1 0]]', x'g'
SELECT B'[[101¦000¦1]]' [[&¦|¦#]] B'[[110¦1]]'
SELECT ~ B'[[101¦¦1111111110]]', B'1001' << [[1¦0¦-1¦10]], B'100110011' >> [[1¦8¦9¦-2]]
SELECT '[[101¦x1F¦b11¦2¦xG¦X¦B1]]'::[[bit¦bit(3)¦bit(8)¦varbit¦varbit(2)¦bit varying(10)]]
SELECT [[5¦-5¦0¦2147483647]]::[[bit¦bit(3)¦bit(8)¦bit(40)]], [[5¦-1]]::int8::bit([[4¦70]])
SELECT B'[[101¦¦11111111111111111111111111111111¦100000000000000000000000000000000]]'::[[int¦bigint]]
SELECT [[length¦octet_length¦bit_length¦bit_count]](B'[[¦1¦101100111]]')
SELECT get_bit(B'[[101¦]]', [[0¦2¦3¦-1]]), set_bit(B'10110', [[0¦4¦5]], [[0¦1¦2]])
SELECT substring(B'110101' from [[1¦3¦0¦-2¦9]][[¦ for 2¦ for 0¦ for -1]]), overlay(B'0000' placing B'11' from [[1¦2¦4¦5¦0]][[¦ for 1¦ for 3]])
SELECT position(B'[[1¦01¦¦111]]' in B'[[0010¦¦11]]')
SELECT B'[[1¦10¦¦0]]' [[=¦<>¦<¦<=¦>¦>=]] B'[[1¦100¦]]', B'1' || B'[[01¦]]', B'1'::bit(3) || '0'::varbit
SELECT [[bit_and¦bit_or¦bit_xor]](b), max(length(b)) FROM (VALUES (B'101'), (B'110'), (null)) v(b)
CREATE TABLE bits (a bit(3), v bit varying(5), n varbit, b bit)
INSERT INTO bits VALUES (B'101', B'11', B'', B'1'), ('001', '10101', '0', '0'), (null, '1', '00000000111', null)
INSERT INTO bits VALUES ([[B'10'¦B'1010'¦5::bit(3)¦'111']], [[B'1'¦B'101010']])
CREATE INDEX bits_n ON bits (n, a)
SELECT * FROM bits ORDER BY n, a, v
SELECT n FROM bits WHERE n [[=¦>¦<]] B'0' ORDER BY n
SELECT DISTINCT b FROM bits ORDER BY b DESC
CREATE TABLE badbits (a [[bit(0)¦bit(83886081)¦varbit(0)¦bit(1, 2)]])
SELECT format_type('bit'::regtype, [[3¦-1]]), format_type('varbit'::regtype, [[5¦-1]]), pg_typeof(B'1'), pg_typeof('1'::bit(2))
SELECT array[B'1', B'01']::[[varbit[]¦bit(2)[]]]
DROP TABLE bits
