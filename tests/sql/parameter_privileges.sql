-- Privileges on parameters.
create role par_1
create role par_2
create role par_3 superuser
grant set on parameter log_statement to par_1
grant alter system on parameter work_mem, log_statement to par_1 with grant option
grant set, alter system on parameter LOG_min_messages to par_1, public
grant all on parameter my.custom to par_1
grant all privileges on parameter log_duration to par_1 granted by current_user
grant set on parameter nosuch to par_1
grant set on parameter "a b" to par_1
grant set on parameter "a b.c" to par_1
grant set on parameter sort_mem to par_1
grant select on parameter work_mem to par_1
grant set on table pg_class to par_1
grant alter system on database postgres to par_1
revoke set on parameter nosuch from par_1
revoke all on parameter enable_seqscan from par_1
select parname, paracl from pg_parameter_acl order by parname
select pg_describe_object(classid, objid, objsubid), refobjid::regrole, deptype from pg_shdepend where classid = 'pg_parameter_acl'::regclass order by 1, 2
select has_parameter_privilege('par_1', 'log_statement', 'set'), has_parameter_privilege('par_1', 'log_statement', 'alter system'), has_parameter_privilege('par_2', 'log_statement', 'set'), has_parameter_privilege('par_1', 'LOG_STATEMENT', 'set, alter system'), has_parameter_privilege('par_3', 'x.y', 'set')
select has_parameter_privilege('par_1', 'log_statement', 'alter system with grant option'), has_parameter_privilege('par_1', 'log_statement', 'set with grant option'), has_parameter_privilege('par_1', 'log_statement', 'select')
select has_parameter_privilege('par_1', 'nosuch', 'set'), has_parameter_privilege('nosuch', 'log_statement', 'set')
select has_parameter_privilege('par_1', 'nosuch', 'x')
set role par_1
set log_statement = 'none'
set log_min_messages = 'info'
set log_duration = off
set log_min_error_statement = 'info'
set my.custom = 1
reset log_statement
set local log_statement = 'all'
select set_config('log_statement', 'ddl', false)
show log_statement
select set_config('log_min_error_statement', 'info', false)
alter system set work_mem = '5MB'
alter system set log_statement = 'none'
alter system reset log_statement
alter system set log_duration = off
alter system reset all
alter system set maintenance_work_mem = '10MB'
alter system reset work_mem
alter system reset log_duration
alter role par_1 set log_statement = 'none'
alter role par_1 set log_min_error_statement = 'info'
create function pf() returns int language sql set log_statement = 'all' as 'select 1'
create function pf2() returns int language sql set log_min_error_statement = 'info' as 'select 1'
alter role par_1 reset log_statement
grant alter system on parameter work_mem to par_2
grant set on parameter work_mem to par_2
grant all on parameter work_mem to par_2
grant set on parameter log_duration to par_2
grant set on parameter enable_sort to par_2
revoke set on parameter log_duration from par_1
revoke alter system on parameter work_mem from par_2
reset role
select parname, paracl from pg_parameter_acl order by parname
set role par_2
set log_statement = 'none'
set log_min_messages = 'info'
alter system set log_min_messages = 'info'
alter system reset log_min_messages
reset role
revoke grant option for alter system on parameter work_mem from par_1
revoke grant option for alter system on parameter work_mem from par_1 cascade
drop role par_1
begin
drop owned by par_1
select parname, paracl from pg_parameter_acl order by parname
drop role par_1
rollback
revoke all on parameter log_statement, work_mem, my.custom, log_duration from par_1, par_2 cascade
revoke all on parameter log_min_messages from par_1, public
select parname, paracl from pg_parameter_acl order by parname
grant set on parameter log_statement to par_1
revoke set on parameter log_statement from par_1
select parname, paracl from pg_parameter_acl order by parname
revoke set on parameter log_statement from postgres
grant set on parameter log_statement to par_1
revoke set on parameter log_statement from postgres
select parname, paracl from pg_parameter_acl order by parname
select acldefault('p', 10)
select * from pg_identify_object('pg_parameter_acl'::regclass, (select oid from pg_parameter_acl where parname = 'log_statement'), 0)
comment on parameter work_mem is 'x'
alter default privileges grant set on parameter to par_1
grant set on parameter log_statement to postgres
drop owned by par_1
drop owned by par_2
drop role par_1, par_2, par_3
select parname, paracl from pg_parameter_acl order by parname
