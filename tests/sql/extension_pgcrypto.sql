create extension pgcrypto
select a, digest('abc', a), digest('\x00ff'::bytea, upper(a)), hmac('data', 'key', a), hmac('data', repeat('k', 200), a) from unnest(array['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']) a order by 1
select digest('a', 'nosuch')
select hmac('a', 'b', 'nosuch')
select digest(null::text, 'md5') is null
select crypt('foox', '[[$1$Szzz0yzz¦_J9..j2zz¦NB¦$2a$06$RQiOJ.3ELirrXwxIZY8q0O¦$2x$06$RQiOJ.3ELirrXwxIZY8q0O¦$2$06$RQiOJ.3ELirrXwxIZY8q0O¦_J9¦N¦¦$2a$06$zz¦$2a$06$RQiOJ.3ELirrXwxIZY8q0OR3CVJrAfda1z26CCHPnB6mmVZD8p0/C]]')
select crypt('', 'NB'), crypt('very long password of more than eight', 'NB'), crypt('very long password of more than eight', '_J9..j2zz'), crypt('pässword', '$1$abcdefgh'), crypt('pw', '$1$abcdefghijk$xyz')
select g, length(gen_salt(g)), substr(gen_salt(g), 1, 3) ~ '[_$]' from unnest(array['md5', 'xdes', 'bf', 'des']) g
select gen_salt('nosuch')
select gen_salt('bf', 3)
select gen_salt('xdes', 2)
select gen_salt('des', 25) is null
select length(gen_salt('bf', 8)), substr(gen_salt('bf', 8), 1, 7)
select crypt('a', gen_salt('bf', 4)) = crypt('a', gen_salt('bf', 4)), s = crypt('a', s), s = crypt('b', s) from (select crypt('a', gen_salt('bf', 4)) s offset 0) x
select length(gen_random_bytes(16)), gen_random_bytes(0)
select gen_random_bytes(0)
select gen_random_bytes(1025)
select length(gen_random_uuid()::text)
select encrypt('ab', 'key', '[[aes¦AES¦aes-cbc¦aes-ecb¦rijndael¦3des¦3des-ecb¦des¦bf¦bf-ecb¦blowfish¦cast5¦nosuch¦aes/pad:none¦aes/pad:pkcs¦aes/pad:x¦aes/foo:x¦aes/pad]]')
select encrypt('0123456789abcdef', 'k', 'aes/pad:none'), encrypt('', 'k', 'aes'), encrypt('', 'k', 'aes/pad:none'), encrypt('text', repeat('k', 17)::bytea, 'aes'), encrypt('text', repeat('k', 25)::bytea, 'aes'), encrypt('text', repeat('k', 50)::bytea, 'aes'), encrypt(repeat('text', 20)::bytea, 'k', 'aes'), encrypt(repeat('text', 20)::bytea, 'k', 'aes-ecb')
select encrypt_iv('text', 'k', 'iv', 'aes'), encrypt_iv(repeat('text', 9)::bytea, 'k', repeat('v', 20)::bytea, 'aes'), encrypt_iv('x', 'k', 'iv', '3des')
select decrypt(encrypt(x, 'k', c), 'k', c) = x, decrypt_iv(encrypt_iv(x, 'k', 'v', c), 'k', 'v', c) = x from unnest(array['', 'a', repeat('b', 16), repeat('c', 33)]::bytea[]) x, unnest(array['aes', 'aes-ecb', '3des']) c
select decrypt('', 'k', 'aes')
select decrypt('abc', 'k', 'aes')
select decrypt('0123456789abcdef', 'k', 'aes')
select decrypt('', 'k', 'aes/pad:none')
select encrypt('abc', 'k', 'aes/pad:none')
select decrypt_iv('abc', 'k', 'v', 'aes')
select crypt('foox', '[[$2a$zz$RQiOJ.3ELirrXwxIZY8q0O¦$2a$40$RQiOJ.3ELirrXwxIZY8q0O¦$2a$00$RQiOJ.3ELirrXwxIZY8q0O¦$2a$06:RQiOJ.3ELirrXwxIZY8q0O¦$2x$06$RQiOJ.3ELirrXwxI:Y8q0O¦$2a$06$RQiOJ.3ELirrXwxIZY8q0!¦$2$06$RQiOJ.3ELirrXwxIZY8q0O]]')
select encrypt('ab', repeat('k', [[5¦16¦17¦60]])::bytea, '[[bf¦bf-cfb¦blowfish-cfb¦blowfish-cbc¦BLOWFISH-ECB¦bf-xyz¦cast5-ecb¦cast5-cfb¦des-ecb¦des3¦des3-cbc¦DES3-ECB¦3des-cbc]]')
select decrypt_iv('ab', repeat('k', 17)::bytea, 'iv', '[[bf¦cast5¦des3-cbc]]')
drop extension pgcrypto
