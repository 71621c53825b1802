"""The fitted coefficients: thousandths of a token for each thing counted.

One column for each tokenizer family, one row for each count of `ullage._counts`. Upper
rows were fitted so that no text of the fit came out below 1.02 of its true count, lower
rows are their mirror image. Source: our own measurement on 3,560 segments and 13
tokenizers, docs/decisions/0002-estimating-without-a-tokenizer.md. The row `rare_han` is
not of that fit: it lifts a rare ideograph to what its bytes can cost at most.
"""

from typing import Final

FAMILIES: Final = (
    "any",
    "openai",
    "claude_new",
    "claude_old",
    "google",
    "qwen",
    "deepseek",
    "llama3",
    "mistral_tekken",
    "sentencepiece32k",
)

UPPER: Final = """
bytes             248  130  206  141   45  141  106  134  108  100
rare              782  879  833  823  762  817  801  840  801  843
digits            812  779  155  711 1429 1440  227  760 1550  995
capitals          745   43  787  214  115   43   71   52  387   97
breaks           1330  286 1173 1079 1448  680 1635  302  850 1890
marks             729  556  772  752  734  536  622  542  604  676
words             340    0  621  102  542    0  137    0   86  551
numbers           417  619  953  723    0    0 1389  652    0  419
latin1           1215 1275 1297 1422  940 1138 1110  901 1268  821
han               620  897  584  723  517  345  190  483  720 1061
rare_han         2000 1213 1298 1354 1848 1732 1992 1615 1456 1699
kana              281  844  355  691  345  419  393  528  450  666
hangul           2254 2262 1739 1935 2644 1779 2108 1894 1900 2695
cyrillic          127  527    0  158  215  328  238  226  205  159
arabic            774  932  565  782  598  559  581  736  726  925
thai             1071  738  370  600  352  231  162  261  350  733
devanagari       1245 1084  362  670  497  837  369 1072  355  956
indic            2355 1819 1346 1614 1200 1317 1200 1787 2865 2049
greek             945 1163  563  744  421  781  480  387  666 1057
latin_additional  141  769    0  644    0    0    0    0    0  809
punctuation      1893    0 1735 1384  286 1295  373  618 1501 1368
latin_extended    800 1326 1348 1161  800  800 1163  800  800 2597
hebrew            609 1009  330  654  455  486  442 1001  460  885
box               350  786  350  350  350  658  350  766  413  350
symbols          1200 1797 1485 2024 1200 1230 1218 1573 1687 1315
astral           3201 3544 3257 3518 3902 3485 3638 3490 3872 3839
compatibility    1200 6253 2256 4996 3758 1200 5055 3267 1200 1200
myanmar          2300 2300 2300 2300 2300 2300 2300 2300 2300 2300
khmer            2326 2300 2300 2300 2300 2300 2300 2300 2711 2300
tibetan          2305 2300 2300 2300 2300 2300 2300 2300 2300 2300
ethiopic         2801 2883 2732 3211 2300 2606 2662 2632 2666 2835
private          2800 2800 2800 2800 2800 2800 2800 2800 2800 2800
other            7219 6144 5416 5789 7588 5826 6754 5992 5896 7662
lao              2401 2401 2401 2401 2401 2401 2401 2401 2401 2401
armenian         1750 1750 1750 1750 1750 1750 1750 1750 1750 1750
combining         923  766 1384 1366  793 1062 1398 1468 1355  765
text                0    0    0    0 2278    0  137    0    0    0
"""

LOWER: Final = """
bytes              40   38   90   94   60   40   39   39   37   88
rare              183  209  462  444  344  199  300  274  390  449
digits             28  148  170    0  528  911  198  166  922  640
capitals            0    0  384    3    3    0   30    0    0   38
breaks              1    0  260    0  108   51  136    0  262  369
marks               0   21  282    0   31    0    5   18  171   93
words             708  681  675  260  487  681  681  596  567  340
numbers          1125  980  785 1476 1277  264  832  983    0 1027
latin1              0  685 1014    0   32    0  934  346  260  332
han               442  500  806  792  429  447  404  491  778  866
kana              390  644  528  550  258  390  526  563  513  749
hangul            298  410  769  901  363  299  494  441  350  958
cyrillic           62   77  109  175   53   63   96  130  109  164
arabic             82  115  412  474  100  132  177  111  121  717
thai              113  285  575  578  140  110  219  317  381  752
devanagari         17   78  430  532    0  218  225  354  164  856
indic              84  160  558  592   43  312  383 1345  243  876
greek              49  203  397  455  202   54  295  231  226  889
latin_additional   29    0  725  993    0   60  577    0    0  652
punctuation       922  612  251 1000  122 1071  743 1034 1093  232
latin_extended      0  118  265 1102  366    0  209  281  709 1866
hebrew            226  237  490  580  282  232  315  977  311  967
box               406  818  376  679  400  780  756  985  657  543
symbols          1498 2121 2635 2784 1403 1536 1540 2061 2553 1841
astral            960 1702 2284 2233 1107  982 1696 2227 2245 3369
compatibility    1437 2217 1241 1622  938  575 1519 2872 1714    0
myanmar            94  100  387  436  184  411  601 1865  295  815
khmer             322  381  793  805  273  743 1076 1512 2794  919
tibetan           531 1348 1025 1025  475 1144  986 1915 2181 1140
ethiopic          898 2683 2976 3166  886 1731 2678 2700 2693 2838
other             536 1936  869  909  516  752 1931 1943 1949 1858
combining           0 1576    0  271  825    0 1634 1493 1822  896
text             1474 1025    0    0    0 1372    0 1202   30    0
"""


def coefficients(rows: str, family: str) -> dict[str, int]:
    """One family's column by name of the count; what costs nothing is left out."""
    column = 1 + FAMILIES.index(family)
    cells = (line.split() for line in rows.strip().splitlines())
    return {row[0]: int(row[column]) for row in cells if row[column] != "0"}
