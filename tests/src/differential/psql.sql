\d
\d+
\dS pg_cl*
\dt
\dt+ shop.*
\dtS pg_am*
\di
\di+ shop.*
\ds
\ds+ *.*
\dv
\dv+ shop.*
\dvS pg_ro*
\dm
\dE
\dn
\dn+
\dnS
\d shop.parent
\d+ shop.parent
\d shop.child
\d+ shop.child
\d shop.note
\d+ shop.note
\d fast
\d+ fast
\d "Odd Name"
\d+ "Odd Name"
\d shop.cheap
\d+ shop.cheap
\d top
\d+ top
\d counter
\d+ counter
\d owned
\d shop.parent_id_seq
\d shop.child_id_seq
\d shop.child_made
\d+ shop.child_made
\d shop.child_lower
\d+ shop.child_lower
\d shop.child_pkey
\d shop.parent_name_key
\d shop.*
\d nothing
\d pg_class
\d+ pg_class
\d pg_proc
\d pg_roles
\d+ pg_tables
\d information_schema.tables
\d pg_class_oid_index
\d pg_toast.pg_toast_1255
\dp
\dp shop.*
\z shop.parent
\ddp
\du
\du+
\duS
\dg
\dg reader
\drds
\drds writer
\df
\df+ upper
\df pg_catalog.lo*
\dfa array_agg
\dfw
\df int4*
\dfnS has_table_privilege
\df upper text
\da sum
\daS+ count
\dT
\dT+ int4
\dTS int*
\dT+ pg_catalog.bool
\do ||
\do+ <
\doS @>
\do < int4 int4
\dC int4
\dC+ text
\dc utf8*
\dcS+ big5*
\dO
\dOS+ C
\dD
\dD+ information_schema.*
\dx
\dL
\dL+
\dLS
\db
\dy
\dX
\dF
\dF+ simple
\dFd
\dFd+ simple
\dFp
\dFp+
\dFt
\dFt+
\des
\deu
\det
\dew
\dRp
\dRs
\dP
\dPi
\dconfig work_mem
\dconfig+ enable_seqscan
\dA
\dA+
\dAc btree int4
\dAf btree int4
\dAo btree integer_ops
\dAp btree integer_ops
\dd
\dd shop.*
\l postgres
\l
\sv shop.cheap
\sv+ top
\sf upper(text)
\sf nosuch
\sv nosuch
\ef nosuch
SELECT 1 AS a, 'x' AS b, now()::timestamp(0) AS c, 1.5::numeric(5,2) AS d \gdesc
SELECT id, name FROM shop.parent \gdesc
SELECT * FROM (VALUES ('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 3)) v(r, c, n) \crosstabview
SELECT 1 AS one \gset
\echo :one
\copy (SELECT 1, 'a') TO STDOUT
SELECT oid FROM pg_class WHERE relname = 'pg_class' \gx
\encoding
\lo_list
\dn+ pg_catalog
\dn+ pg_toast
\dtS pg_toast.pg_toast_12*
\dT+
\dT+ shop.*
\dD shop.*
\dD+ shop.*
\d shop.typed
\d+ shop.typed
\d shop.size
\d+ shop.size
\d shop.totals
\d+ shop.totals
\dm+ shop.*
\dX shop.*
\df shop.*
\df+ shop.*
\dfp shop.*
\dfn shop.a*
\sf shop.add
\sf+ shop.rows
\sf shop.tab
\sf shop.do_it(int, text[])
\ef shop.missing
\d+ shop.checked
\d shop.clustered
\d+ shop.clustered
\d shop.clustered_pkey
\d shop.note_expr
\d+ shop.note_expr
\d shop.note_nnd
\d shop."Select"
\d+ shop."Select"
\d shop.self
\dt shop.*
\dti shop.n*
\dtvs
\dtvmsi+ shop.*
\z counter
\du+ writer
\dg+
\dconfig statement_timeout
\dconfig max_conn*
\d pg_toast.pg_toast_2619
\d+ pg_toast.pg_toast_2619
\dS+ pg_database
\d information_schema.sql_parts
\d pg_stat_activity
\dC
\dCS int*
\dC+ int4
\do
\do+ pg_catalog.%
\dc
\dA+ btree
\dAc btree
\dAc+ hash int*
\dAf
\dAf+ btree text
\dAo gin array_ops
\dAp+ btree text_ops
\des+
\dX+
\dRp+
\dy+
\dP+
\dx+
\sv shop.checked
\sv+ shop.cheap
\sf pg_catalog.lpad(text, int)
\sf xpath(text, xml)
\sf lower
\df pg_catalog.substring
\df+ pg_catalog.generate_series
\dfa pg_catalog.*agg*
\dfw pg_catalog.*
\df *.tab
\d nosuch.*
\dt nosuch
\dn nosuch.x.y
\dT pg_catalog.*int*
\d shop.positive
\lo_list+
\dL c
\dFp default
\dF pg_catalog.english
\dF+ english
SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database ORDER BY 1;
SELECT 'a' \g (format=unaligned)
\pset format csv
\d shop.parent
\pset format html
\d shop.parent
\pset format aligned
\x
\x
\set ECHO_HIDDEN noexec
\set ECHO_HIDDEN off
\dt "Odd*"
\dt odd*
\d ??unter
\d shop.pa(rent|sta)
\d shop.child|fast
\di *.*note*
\dS+ pg_am
\set FETCH_COUNT 2
SELECT id FROM shop.parent ORDER BY id;
\unset FETCH_COUNT
\gdesc
SELECT 1 AS x, 2 AS y \gexec
SELECT id AS x, name FROM shop.parent ORDER BY 1 \crosstabview
\errverbose
SELECT 1/0;
\errverbose
\dg+ nosuch
