create extension earthdistance
create extension earthdistance cascade
select extname, extrelocatable from pg_extension where extname in ('cube', 'earthdistance') order by 1
select pg_describe_object(refclassid, refobjid, 0), deptype from pg_depend where classid = 'pg_extension'::regclass and objid = (select oid from pg_extension where extname = 'earthdistance') order by 1
select pg_describe_object(classid, objid, 0) from pg_depend where refclassid = 'pg_extension'::regclass and refobjid = (select oid from pg_extension where extname = 'earthdistance') and deptype = 'e' order by 1
select conname, pg_get_constraintdef(oid) from pg_constraint where contypid = 'earth'::regtype order by 1
select earth(), sec_to_gc(-1), sec_to_gc(1e9), gc_to_sec(-1), gc_to_sec(1e9), sec_to_gc(earth())::numeric(20, 5), gc_to_sec(1000)::numeric(20, 5)
select earth_distance(ll_to_earth(0, 0), ll_to_earth(0, 180))::numeric(20, 3), latitude(ll_to_earth(45, 10))::numeric(20, 8), longitude(ll_to_earth(45, 10))::numeric(20, 8), cube_size(earth_box(ll_to_earth(1, 2), 1000))::numeric(20, 2)
select '(1,2,3)'::earth
select '(1,2,3),(4,5,6)'::cube::earth
drop extension cube
drop extension cube cascade
