select e, encode(convert_to('a日本ｱ', e), 'hex') from unnest(array['EUC_JP', 'SJIS', 'EUC_JIS_2004', 'SHIFT_JIS_2004', 'GB18030']) e
select encode(convert_to('[[日本¦ｱ¦a¦¦①¦か゚¦か¦゚¦€¦é¦中文¦한글¦𠀋¦~\¦¥‾¦Ω]]', '[[EUC_JP¦SJIS¦EUC_JIS_2004¦SHIFT_JIS_2004¦EUC_CN¦GBK¦GB18030¦EUC_KR¦UHC¦JOHAB¦BIG5¦EUC_TW¦MULE_INTERNAL]]'), 'hex')
select convert_from('\x[[61¦c6fc¦8eb1¦8fa2b7¦8fa2¦b1¦93fa¦93¦80¦ff¦8140¦81308130¦8130¦90308130¦e3329a35¦e3329a36¦8ea2a1a1¦8ea8a1a1¦a1a1¦8d20¦61620063¦fefe¦a480¦8130ff30]]', '[[EUC_JP¦SJIS¦EUC_JIS_2004¦SHIFT_JIS_2004¦EUC_CN¦GBK¦GB18030¦EUC_KR¦UHC¦JOHAB¦BIG5¦EUC_TW]]')
select length('\x[[61c6fc62¦8fa2b7¦8fa2¦93fa61¦81308130¦¦ff]]', '[[EUC_JP¦SJIS¦GB18030¦BIG5¦EUC_TW]]')
select convert('\x[[c6fc¦61¦ff]]', 'EUC_JP', '[[UTF8¦EUC_JP¦LATIN1]]')
select md5(string_agg(encode(convert_to(chr(c), 'GB18030'), 'hex'), ',' order by c)) from generate_series([[128, 55295¦57344, 131071¦1048576, 1114111]]) c
set client_encoding = [[EUC_JP¦sjis¦Big5¦gb18030¦uhc¦johab¦euc_tw¦shift_jis_2004¦euc_jis_2004¦gbk¦euc_cn¦euc_kr]]
show client_encoding
set client_encoding = mule_internal
set client_encoding = sjis
select textsend(U&'\65E5\672C\FF71'), array_send(array[U&'\65E5', 'a'])
select textsend(U&'\AC00')
set client_encoding = utf8
