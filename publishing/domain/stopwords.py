"""Words of three letters or more that say nothing about a question's subject, by language.

Only short function words and the words that ask ("quali", "which"): a content word that is listed
here by mistake makes an answer weak, one that is missing makes it grounded. Accents are dropped and
an elided article ("dell'età") is a word of its own. A language without a list has no stop words.
"""

from __future__ import annotations

from types import MappingProxyType

_ITALIAN = """
agli alla alle allo anche ancora avere aveva avevano avete avuta avute avuti avuto abbia abbiamo
abbiano all alcuna alcune alcuni alcuno altra altre altri altro aver ben bene che chi chiunque
ciascun ciascuna ciascuno cio cioe cui coi col come con contro cosa cose cosi dagli dai dal dall
dalla dalle dallo degli dei del dell della delle dello dentro devo deve devono dopo dove dov due
dunque durante ebbe ecco era erano essa esse essere essi esso fai fanno fare fatta fatte fatti
fatto fin fino fra fui furono gia gli grazie hai hanno infatti inoltre invece lei loro lui magari
mai mia mie mio miei molta molte molti molto negli nei nel nell nella nelle nello nessun nessuna
nessuno niente noi non nostra nostre nostri nostro nulla ogni oltre oppure ora perche pero per piu
poco poi possiamo posso possono prima proprio puo puoi qua qual quale quali qualche qualcosa
qualcuno quando quanta quante quanti quanto quel quella quelle quelli quello quest questa queste
questi questo quindi sara saranno sarebbe secondo sei sempre senza sia siamo siano siete solo sono
sopra sotto sta stai stanno stare stessa stesse stessi stesso sua sue sugli sui sul sull sulla
sulle sullo suo suoi tale tali tanta tante tanti tanto tra troppo tua tue tuo tuoi tutta tutte
tutti tutto una uno verso voi vostra vostre vostri vostro bisogna dire dimmi spiega spiegami vuol
vuole significa
"""
_ENGLISH = """
about above after again against all also although always and another any anyone anything are aren
because been before being below between both but can cannot could couldn did didn does doesn doing
don done down during each either else ever every few for from further get give had hadn has hasn
have haven having her here hers herself him himself his how however into isn its itself just let
like made make many may mean means might more most much must mustn myself neither nor not nothing
now off once one only other ought our ours ourselves out over own per please same shall shan she
should shouldn show since some someone something such tell than that the their theirs them
themselves then there these they this those through thus too under until upon use used using very
want was wasn were weren what whatever when where whether which while who whom whose why will with
within without won would wouldn yes yet you your yours yourself yourselves explain
"""
_FRENCH = """
afin ainsi alors apres aucun aucune aura aurait autre autres aux avait avant avec avez avoir avons
bien car ceci cela celle celles celui ces cet cette ceux chaque chez combien comme comment dans
depuis des deux donc dont elle elles encore entre est etaient etait etant ete etes etre eux fait
faire faut font hors ici ils jamais leur leurs lors lorsque lui mais meme memes mes moi moins mon
non nos notre nous ont par parce pas pendant peu peut peuvent plus plusieurs pour pourquoi pouvez
puis quand que quel quelle quelles quelque quelques quels qui quoi sans sera serait ses seulement
soi soit sommes son sont sous suis sur tel telle telles tels tes toi ton tous tout toute toutes
tres une vers voici vos votre vous
"""
_GERMAN = """
aber alle allem allen aller alles als also andere anderen anderer anderes auch auf aus bei beim
bin bis bist dabei dadurch daher damit dann daran darauf darin darum das dass dein deine dem den
denn der deren des dessen die dies diese diesem diesen dieser dieses doch dort durch ein eine
einem einen einer eines einige einmal etwas euch euer fur gegen gewesen gibt habe haben hat hatte
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer immer ins ist jede jedem jeden
jeder jedes jene jetzt kann kein keine keinem keinen keiner konnen konnte machen man manche mehr
mein meine mich mir mit muss mussen nach nicht nichts noch nun nur oder ohne sehr sein seine
seinem seinen seiner seit selbst sich sie sind soll sollen sollte sondern uber und uns unser
unsere unter viel viele vom von vor wann war waren warum was weil welche welchem welchen welcher
welches wenn wer werde werden wie wieder will wir wird wirst wollen worden wurde wurden zum zur
zwar zwischen
"""
_SPANISH = """
ademas ahora algo alguien algun alguna algunas alguno algunos alli ante antes aquel aquella
aquellas aquellos aqui asi aun aunque cada casi como con contra cosa cosas cual cuales cualquier
cuando cuanta cuantas cuanto cuantos cuya cuyo debe deben del desde despues donde dos durante ella
ellas ellos entre era eran eres esa esas ese eso esos esta estaba estaban estan estar estas este
esto estos estoy fue fueron ser hace hacer hacia han hasta hay les las los mas mediante mientras
misma mismas mismo mismos mucha muchas mucho muchos muy nada nos nosotros nuestra nuestro nunca
otra otras otro otros para pero poco por porque pueda puede pueden pues que quien quienes sea sean
segun sera sido sin sino sobre sola solo son sus suya suyo tal tambien tampoco tan tanto tener
tengo tiene tienen toda todas todo todos tras una unas uno unos usted ustedes vosotros
"""
_PORTUGUESE = """
agora ainda alem algo alguem algum alguma algumas alguns ambos ante antes apos aquela aquelas
aquele aqueles aqui aquilo assim ate cada coisa coisas com como contra cujo cuja das dela delas
dele deles depois desde dessa desse desta deste deve devem disso disto dois dos duas durante ela
elas ele eles embora entao entre era eram essa essas esse esses esta estao estar estas estava este
estes estou fazer foi foram fosse havia isso isto lhe lhes logo mais mas mesma mesmas mesmo mesmos
meu meus minha minhas muita muitas muito muitos nada nao nas nem nenhum nenhuma nessa nesse nesta
neste nos nossa nossas nosso nossos num numa nunca onde ora outra outras outro outros para pela
pelas pelo pelos pode podem pois por porem porque qual quais qualquer quando quanta quantas quanto
quantos que quem sao seja sem sempre ser sera seu seus sim sob sobre sua suas tal tambem tanto tem
tendo ter teu teus toda todas todo todos tua tuas tudo uma umas uns voce voces
"""

STOP_WORDS = MappingProxyType(
    {
        "de": frozenset(_GERMAN.split()),
        "en": frozenset(_ENGLISH.split()),
        "es": frozenset(_SPANISH.split()),
        "fr": frozenset(_FRENCH.split()),
        "it": frozenset(_ITALIAN.split()),
        "pt": frozenset(_PORTUGUESE.split()),
    }
)
