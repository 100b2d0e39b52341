-- Network addresses: inet, cidr, macaddr, macaddr8.
SELECT inet '[[1.2.3.4¦1.2.3.4/24¦10/8¦10.1/16¦1.2.3.4.¦10./8¦1.2.3.4./24¦0.0.0.0/0¦255.255.255.255/32¦1.2.3.4/33¦1.2.3¦256.1.1.1¦1.2.3.4.5¦1..2.3¦ 1.2.3.4¦1.2.3.4 ¦¦x¦1.2.3.4/¦1.2.3.4/x¦1.2.3.4/-1¦01.002.0003.4¦0x01020304¦10/16¦/8¦1.2.3.4/08]]'
SELECT inet '[[::¦::1¦::/0¦1::¦1::2¦1:2:3:4:5:6:7:8¦1:2:3:4:5:6:7¦1:2:3:4:5:6:7:8:9¦::ffff:1.2.3.4¦::1.2.3.4/120¦::1.2.3.4/08¦1::2::3¦:1¦1:¦::12345¦ABCD:ef01::/32¦::/129¦::/00¦1:2:3:4:5:6:1.2.3.4¦1:2:3:4:5:6:7:1.2.3.4¦::1.2¦::1.2/100¦::1..2.3¦::1.2.3.¦::01.2.3.4¦::256.1.1.1¦fe80::1%eth0¦2001:4f8:3:ba:2e0:81ff:fe22:d1f1/64¦1:2:3:4:5:6:7::¦::2:3:4:5:6:7:8¦::0:0:0:0:0:0:0:1¦:::]]'
SELECT cidr '[[1.2.3.4¦1.2.3.0/24¦1.2.3.4/24¦10¦127¦128.1.2¦191¦192¦192.168.1¦224¦224.1¦239¦240¦255¦10.¦10.1.2.0¦1.2.3.0/33¦0x0A¦0xabc¦0xabcdef01/32¦0xabcdef0102¦0xg¦10/4¦10/32¦0/0¦::/0¦::1/128¦::1/64¦2001:4f8:3:ba::/64¦::ffff:1.2.3.0/120¦1.2.3.256¦¦ 10]]'
CREATE TABLE ip (i int, a inet, c cidr)
INSERT INTO ip VALUES (1, '192.168.1.226/24', '192.168.1'), (2, '192.168.1.0/24', '192.168.1.0/26'), (3, '192.168.1.5', '192.168.1'), (4, '10.1.2.3/8', '10.0.0.0/8'), (5, '10.0.0.0/8', '10.0.0.0/32'), (6, '11.1.2.3/8', '10.1.2.3'), (7, '9.1.2.3/0', '0.0.0.0/0'), (8, '10:23::f1/64', '10:23::8000/113'), (9, '10:23::ffff', '10:23::/64'), (10, '::4.3.2.1/24', '::/24'), (11, '::ffff:1.2.3.4', '::ffff:1.2.3.4/128'), (12, NULL, NULL), (13, '255.255.255.255', '255.255.255.255'), (14, 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '::/0')
SELECT i, a, host(a), text(a), abbrev(a), family(a), masklen(a), network(a), netmask(a), hostmask(a), broadcast(a), cidr(a), a::text, a::cidr, ~a FROM ip ORDER BY i
SELECT i, c, host(c), text(c), abbrev(c), family(c), masklen(c), network(c), netmask(c), hostmask(c), broadcast(c), c::inet, c::text, set_masklen(c, [[0¦8¦-1¦20]]) FROM ip ORDER BY i
SELECT abbrev(cidr '[[10/8¦10.1/16¦0/0¦10.1.2.128/25¦10.1.2.3/32¦1.128/9¦::/0¦1::/16¦1:2::/32¦1:0:0:2::/64¦::1.2.3.4/128¦::1.2.3.0/120¦::ffff:1.2.0.0/112¦::ffff:1.2.3.4/128¦1:0:0:2:0:0:0:3/128¦1:0:2:0:0:3::/96¦::1/128¦::8000/113¦0:0:1:0:0:0:1:0/112]]')
SELECT set_masklen(inet '[[1.2.3.4/24¦1:2::3/64]]', [[0¦-1¦33¦128¦129¦-2¦16]])
SELECT set_masklen(cidr '10.1.2.0/24', [[16¦20¦33]])
SELECT x.i, y.i FROM ip x, ip y WHERE x.a [[<<¦<<=¦>>¦>>=¦&&]] y.[[a¦c]] ORDER BY 1, 2
SELECT x.i, y.i FROM ip x, ip y WHERE x.[[a¦c]] [[=¦<¦<=¦>¦>=¦<>]] y.[[a¦c]] ORDER BY 1, 2
SELECT x.i, y.i, inet_same_family(x.a, y.c) FROM ip x, ip y ORDER BY 1, 2
SELECT x.i, y.i, inet_merge(x.a, y.c) FROM ip x JOIN ip y ON inet_same_family(x.a, y.c) ORDER BY 1, 2
SELECT inet_merge('1.2.3.4', '::1')
SELECT inet '192.168.1.6' [[& inet '0.0.0.255'¦| inet '0.0.0.255/8'¦+ 25¦- 43¦+ 4294967295¦- 4294967295¦- inet '192.168.1.43/24'¦- inet '10.0.0.1'¦& inet '::1'¦| inet '::1'¦- inet '::1']]
SELECT inet '::ffff:fffe:1' [[& inet '::ffff:0'¦| inet '1::'¦+ 25¦- 9223372036854775807¦- inet '::1'¦- inet 'ffff::'¦- inet '0:0:0:1::'¦- inet '::8000:0:0:0:1'¦- inet 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'¦- inet '::ffff:ffff:ffff:ffff'¦+ 9223372036854775807]]
SELECT 200::int8 + inet '1.2.3.4', inet '255.255.255.254' + 1, inet 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe' + 1, inet '0.0.0.1' - 1
SELECT inet '[[255.255.255.255¦ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]]' + 1
SELECT inet '[[0.0.0.0¦::]]' - 1
SELECT i, hashinet(a), hashinetextended(a, 5), inet_send(a), cidr_send(c), network_cmp(a, c) FROM ip ORDER BY i
SELECT a, count(*) FROM ip GROUP BY a ORDER BY a; SELECT c FROM ip ORDER BY c DESC NULLS LAST; SELECT min(a), max(a), min(c), max(c::inet) FROM ip
SELECT x.i, y.i FROM ip x JOIN ip y ON x.a = y.c ORDER BY 1, 2; SELECT DISTINCT c FROM ip ORDER BY 1
CREATE INDEX ip_a ON ip (a); CREATE INDEX ip_c ON ip (c); CREATE INDEX ip_h ON ip USING hash (a); SET enable_seqscan = off
EXPLAIN (COSTS OFF) SELECT i FROM ip WHERE a [[<< '192.168.1.0/24'¦<<= '192.168.1.0/24'¦= '10.0.0.0/8'¦< '10.0.0.0/8'¦<<= '10:23::/64']]::inet
SELECT i FROM ip WHERE a [[<< '192.168.1.0/24'¦<<= '192.168.1.0/24'¦= '10.0.0.0/8'¦< '10.0.0.0/8'¦&& '10.0.0.0/8'¦<<= '10:23::/64'¦<<= '0.0.0.0/0'¦<< '::/0']]::inet ORDER BY i
EXPLAIN (COSTS OFF) SELECT i FROM ip WHERE '192.168.1.0/24'::[[cidr¦inet]] [[>>¦>>=]] [[a¦c]]
SELECT i FROM ip WHERE '192.168.1.0/24'::[[cidr¦inet]] [[>>¦>>=]] [[a¦c]] ORDER BY i
SELECT i FROM ip WHERE c [[<<= '192.168.0.0/16'¦> '10/8'¦= '10/8']] ORDER BY i; RESET enable_seqscan
DROP TABLE ip
SELECT '1.2.3.4/24'::inet::cidr, '1.2.3.4'::text::inet, '10/8'::cidr::text, '1.2.3.4'::inet::varchar(5), cidr('1.2.3.4/20'::inet), inet '1.2.3.4' = cidr '1.2.3.4/32', ARRAY[inet '1.2.3.4', '::1'], '{1.2.3.4,10/8}'::inet[], to_json(inet '1.2.3.4/8')
SELECT inet_client_addr() IS NULL, inet_server_addr() IS NULL, pg_typeof(inet_client_addr())
SELECT macaddr '[[08:00:2b:01:02:03¦08-00-2b-01-02-03¦08002b:010203¦08002b-010203¦0800.2b01.0203¦0800-2b01-0203¦08002b010203¦0800:2b01:0203¦not even close¦8:0:2b:1:2:3¦ 08:00:2b:01:02:03 ¦08:00:2b:01:02:03x¦08:00:2b:01:02:03 x¦100:0:0:0:0:0¦-1:0:0:0:0:0¦0x8:0x0:0:0:0:0¦08:00:2b:01:02¦08:00:2b:01:02:03:04¦¦08 00 2b 01 02 03¦ffffffffff:0:0:0:0:0¦+8:0:0:0:0:0¦08: 00:2b:01:02:03¦08 :00:2b:01:02:03¦fffffffffffffffff:0:0:0:0:0¦08-00:2b:01:02:03¦g8002b010203]]'
SELECT macaddr8 '[[08:00:2b:01:02:03¦08-00-2b-01-02-03¦08002b:010203¦08002b-010203¦0800.2b01.0203¦0800-2b01-0203¦08002b010203¦0800:2b01:0203¦not even close¦08:00:2b:01:02:03:04:05¦08-00-2b-01-02-03-04-05¦08002b:0102030405¦0800.2b01.0203.0405¦08002b01:02030405¦08002b0102030405¦ 08:00:2b:01:02:03     ¦    08:00:2b:01:02:03:04:05   ¦123    08:00:2b:01:02:03¦08:00:2b:01:02:03  123¦08:00:2b:01:02:03:04:05:06:07¦08-00-2b-01-02-03-04-05-06-07¦08002b:01020304050607¦08002b01020304050607¦0z002b0102030405¦08002b010203xyza¦08:00-2b:01:02:03:04:05¦08:00:2b:01.02:03:04:05¦08:00:2b:01:02:03:¦08:00:2b:01:02:0¦¦0¦08:00:2b:01:02:03:04]]'
CREATE TABLE mac (i int, a macaddr, b macaddr8); INSERT INTO mac VALUES (1, '08:00:2b:01:02:03', '08:00:2b:ff:fe:02:03:04'), (2, 'ff:ff:ff:ff:ff:ff', 'ff:ff:ff:ff:ff:ff:ff:ff'), (3, '00:00:00:00:00:00', '00:00:00:00:00:00:00:00'), (4, '08:00:2b:01:02:04', '08:00:2b:01:02:03:04:05'), (5, '80:00:00:00:00:01', '80:00:00:00:80:00:00:01'), (6, NULL, NULL)
SELECT i, a, b, trunc(a), trunc(b), ~a, ~b, macaddr8(a), a::macaddr8, macaddr8_set7bit(b), hashmacaddr(a), hashmacaddrextended(a, 3), hashmacaddr8(b), hashmacaddr8extended(b, 3), macaddr_send(a), macaddr8_send(b) FROM mac ORDER BY i
SELECT b::macaddr FROM mac WHERE i [[= 1¦= 4¦= 6]]
SELECT x.i, y.i, x.a & y.a, x.a | y.a, x.b & y.b, x.b | y.b FROM mac x, mac y ORDER BY 1, 2
SELECT x.i, y.i FROM mac x, mac y WHERE x.a [[=¦<¦<=¦>¦>=¦<>]] y.a ORDER BY 1, 2
SELECT x.i, y.i FROM mac x, mac y WHERE x.b [[=¦<¦<=¦>¦>=¦<>]] y.b ORDER BY 1, 2
SELECT x.i, y.i FROM mac x, mac y WHERE x.a = y.b ORDER BY 1, 2; SELECT a FROM mac ORDER BY a DESC; SELECT b FROM mac ORDER BY b; SELECT a, count(*) FROM mac GROUP BY a ORDER BY a
CREATE INDEX ON mac (a); CREATE INDEX ON mac (b); CREATE INDEX ON mac USING hash (b); SET enable_seqscan = off; SELECT i FROM mac WHERE a >= '08:00:2b:01:02:04' ORDER BY i; SELECT i FROM mac WHERE b = '08:00:2b:01:02:03:04:05'; SELECT x.i FROM mac x JOIN mac y USING (b) ORDER BY 1; RESET enable_seqscan
SELECT [[min¦max]](a) FROM mac
DROP TABLE mac
CREATE TABLE nets (n cidr, h inet, m macaddr, m8 macaddr8); INSERT INTO nets SELECT ('10.' || g % 7 || '.' || g % 50 || '.0/24')::cidr, ('10.' || g % 7 || '.' || g % 50 || '.' || g % 200 || '/' || 8 + g % 25)::inet, ('08002b' || lpad(to_hex(g), 6, '0'))::macaddr, ('80002b0000' || lpad(to_hex(g * 1000), 6, '0'))::macaddr8 FROM generate_series(1, 400) g; ANALYZE nets
SELECT attname, null_frac, avg_width, n_distinct, most_common_vals::text, most_common_freqs, histogram_bounds::text, correlation FROM pg_stats WHERE tablename = 'nets' ORDER BY 1
EXPLAIN SELECT * FROM nets WHERE n [[<<¦<<=¦>>¦>>=¦&&]] '10.[[3.0.0/16¦3.7.0/24¦0.0.0/8¦3.7.5/32]]'
EXPLAIN SELECT * FROM nets WHERE h [[<<¦<<=¦>>¦>>=¦&&¦<¦>=¦=]] '10.[[3.0.0/16¦3.7.0/24¦0.0.0/8¦3.7.5/32]]'
EXPLAIN SELECT * FROM nets WHERE '10.3.0.0/16' [[<<¦<<=¦>>¦>>=¦&&]] h
EXPLAIN SELECT * FROM nets WHERE [[m < '08:00:2b:00:00:55'¦m8 > '80:00:2b:00:00:01:00:00'¦m = '08:00:2b:00:00:55'¦h << n¦n << '::/0']]
EXPLAIN SELECT * FROM nets a, nets b WHERE a.h [[<<¦<<=¦>>¦&&]] b.n
EXPLAIN (COSTS OFF) SELECT * FROM nets a WHERE [[¦NOT]] EXISTS (SELECT FROM nets b WHERE a.h [[<<¦>>=¦&&]] b.n)
DROP TABLE nets
