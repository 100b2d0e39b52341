-- Our texts of the system views. `xtask facts` loads them into a real PostgreSQL 15 and records the
-- parse trees; names and columns are PostgreSQL's, as documented.

CREATE VIEW pg_roles AS
  SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
         rolconnlimit, '********'::text AS rolpassword, rolvaliduntil, rolbypassrls,
         s.setconfig AS rolconfig, a.oid
  FROM pg_authid a LEFT JOIN pg_db_role_setting s ON s.setrole = a.oid AND s.setdatabase = 0;

