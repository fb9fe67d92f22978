"""List words of any conversation: they say little about what is asked for."""

EVERYDAY = """
private confidential delicate sensitive secret embarrassing awkward
waiter waitress broken bananas ridiculous complicated delicious crazy raining snowing bakery receipt pennies penny rub
birthday pounds enormous incredibly painfully dreadfully massive tiny urgently
another dreadful ready tonight's maybe heading afternoon morning
ages agree ahead allow almost alone along altogether always among amount angry anyhow answer anywhere apart apparently
arms arrive arrived asap aside asleep ate aunt average awake away awful awfully baby back bag bags bar bath beautiful
became become bed bell belong below beside besides between big bill bin birthday blimey bloke bloody body bother bottom
boy break brief bright brilliant bring broke brother brought build busy button buy calm camera car care careful
carry cat catch caught cause centre chair change chap chat cheap check cheeky cheerio cheers child children choice
choose city class clean clear clever close closed clothes colleague colour common company complete completely confused
consider cook cooked correct corner count country couple cousin covered crikey cross cut dad daft damn dark date
daughter dead deal decide decided deep depends desk different difficult dinner dog door double doubt drink drive
driving drop dry due earlier early easily easy eat eating eight either email empty end enjoy enough entire especially
etc evening events eventually exact exactly excellent except excited expect expecting experience explain extra extremely
eye eyes face fact fair fairly fall fallen family fancy fantastic far fast favour favourite fed fell few figure fill
film finally find finish finished first fit fix floor folk folks follow food foot forever forget forgot forgotten
forth forward frankly free fresh friend friends front full fully fun funny future gadgets game garden generally gentle
gentleman gift girl girlfriend given glad god gonna gone gosh grand grandson granddaughter granny grandma grandad
ground group grown guess guest guests guy guys hair half hand hands handy happened happening happens happy hard hardly
hate head hear heard heart heavy heck hell helpful herself high himself hit hold holiday home honest hopefully horrible
hour hours house huge hundred hurry husband idea ideal imagine immediately important impossible indeed inside instant
interested interesting invited issue job join joining journey keen kid kids kindest knackered knew known lad ladies lady
large last lastly late lately laugh lead least leave leaving left less letter life light line lips literally live
living loads local lonely long longer loose lord lose lost loud lovely low luck lucky lunch mad main major man manage
matter maybe meal meantime meet meeting mention mess middle might mile minutes miss missed missing mistake mix mom
moments money month months mother mum music named nap nasty natter near nearly neighbour neighbours neither nephew
nervous news next nice niece none noon nope normal normally noticed nowhere number obviously occasion odd offer office
often okey older open opposite option orange ordinary otherwise ourselves outside own paper parents park part partner
party pass past patience people perhaps period person picture piece place placed plain plan planned planning plans play
played plenty point points poor popular position power prefer prepared present pretty previous probably problem proper
properly proud provide public pull purpose quarter question questions quiet quite ran reach read ready real realise
realised reason recent recently regular relax remain remember remembered rest result return ride ring risk road room
round row run running rush sad safe sake same sat save saying school seat second seconds self send sense sensible sent
separate serious seriously set several shame share shoes shop short shortly shout show shower shut sick side sign
silly similar simple single sister sit sitting six sleep sleepy slight slightly slow small smile somehow someone son
sooner sounds speaking special spend spot stand standing starving state station stay step stick still stood story
straight strange street stretch strong stuck study stupid successful such suddenly suit sun super surely surprise
surprised table taken talking tea team ten terrible terribly text thank themselves there therefore thinking third
thirsty thought thousand three throughout tick tidy till tired together told ton tons took top total totally touch
towards town travel tricky tried trip trouble true truly trust truth twelve twice two type ugh unfortunately
unless unlikely until unusual upon upset upstairs downstairs useful useless usual usually various visit visiting voice
wait waited waiting walk walking warn warning watch water wear weekend weird welcome went wife window wise wished won
wondered word words work working world worried worry worse worst worth wrap write wrong yeah year years yesterday yet
winter summer autumn whoever whichever whatever whomever answers
young yourselves second's shortly thereabouts somewhat roughly approximately exactly ish please's missus hubby
heading heads headed meanwhile loo toilet daily weekly lads lass mates bit's hiya wotcha alrighty righto rightio
sec secs mo jiffy tick ta innit pet duck darling sweetie guv boss chief fella dude bro rn tbh lol haha ha omg btw
"""

PAST = """
was were had did went used yesterday ago loved ate came took gave saw paid waited lasted if unless
"""

TELLING = """
told said says last once always never wanted loves likes made friend brother sister mother father neighbour neighbor
uncle aunt boss cousin nephew niece if unless hate hates why
"""

FILLERS = """
something anything it that this them these those one for me us please now later down again a an the thing things thanks
note message so um uh er erm to of on in at and or but my i you your can could would will do is am are
"""

NAMES_ALIKE = """
fred ted ned jed ahmed mohamed muhammed hamed reed sterling irving browning fielding king ming ling ping jing sly
beverly emily carly charly kimberly tilly
"""

NO_NAMES = """
monday tuesday wednesday thursday friday saturday sunday january february march july september october november
december christmas easter english irish british scottish welsh american german french spanish italian polish dutch
danish swedish chinese japanese indian russian greek turkish canadian australian european catholic muslim jewish hindu
"""
"""Capitalised words that are no names of persons."""

COLOURING = """
ready ages ahead almost alone along altogether angry anyhow apparently asap awful awfully beautiful bloody brief bright
brilliant brilliantly calm careful cheers cheerio cheeky clear clearly completely correct crikey daft damn definitely
dreadful dreadfully early easily easy enough entire entirely especially exact exactly excellent extremely fair fairly
fancy fantastic fast finally frankly fully fun funny generally gentle gently gladly glad god gosh handy happy happily
hard hardly honest hopefully horrible huge hurry ideal immediately important incredibly indeed instant instantly keen
kindest knackered late lately loads lovely lucky lad lads lass mates folks dude bro gentleman nearly nope obviously odd
okey otherwise particularly pet poor popular properly proper proud promptly quiet quietly sad safe sensible serious
seriously short shortly silly simple slight slightly slow slowly small somehow sooner sounds straight strange strong
stupid super surely surprised terrible terribly therefore thirsty hungry starving tired tick ta together tonight's
totally true truly ugh unfortunately until weird welcome worried worse worst worth young yet innit pls darling sweetie
duck guv boss chief lol haha btw tbh omg rn mo jiffy sec secs righto alright aright alrighty hiya afternoon evening
morning noon day appreciate appreciated grateful instead favour hold wait hang moment rush sake forever away next
"""
"""Words that colour a request: they say nothing of what is asked for."""

OTHERS = """
he him his she her hers they their theirs
"""
"""Words for persons who are spoken of."""

TELLTALE = """
was were been had did done if called said says suppose somebody someone
anyone anybody everyone everybody nobody keeps kept felt seemed wonder wondering ever every night nights week weeks
during minute second hour day days stuff each off without against except tomorrow later sometime someday
"""
"""Common words of others' deeds and of the past: scripts name those that a request has."""
