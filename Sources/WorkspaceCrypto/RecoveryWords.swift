/// The 2,048 words of which recovery phrases are made: common English words of 4 to 7 letters, in
/// alphabetical order, that differ in their first four letters.
///
/// The list is part of the format: a changed word would change what old phrases mean.
enum RecoveryWords {
    /// All of them, in order; the place of a word is its 11-bit number.
    static let all: [String] = text.split { $0 == " " || $0 == "\n" }.map(String.init)

    /// How many letters identify a word.
    static let tellingLetterCount = 4

    /// The number of a word by its first four letters.
    static let numbers: [String: Int] = Dictionary(
        uniqueKeysWithValues: all.enumerated().map {
            (String($0.element.prefix(tellingLetterCount)), $0.offset)
        })

    private static let text = """
        abacus abandon abbey ability able aboard about above abrupt absent absorb abstain abyss
        acquire acre acrobat actor actual acute adhere adjust admiral adopt adorn adult advance
        advice aerial affair affirm afford afloat afraid after again agenda agile aglow agony agree
        ahead aimless airbag airport aisle ajar alarm album alcove alert alias alibi align alike
        alloy almond alone alpaca alpine also altar always amazing ambush amend amid amuse anchor
        ancient angel animal ankle annex annual answer anthem antique anvil apart apex apple approve
        apricot apron aquatic arcade arch arctic area arena argue arise armada armful armor aroma
        around arrange arrest arrive arrow artist ascent ashore aside asleep aspen assume athlete
        atlas atom attach attend attic auburn auction audio august aura author autumn avenue average
        avocado avoid await awake award away awesome awful awkward axis azure baby backup badge
        badly bagel balance balcony ballad bamboo banana banjo banner barber bargain barley baron
        barrel basalt bathtub bazaar beagle beam beauty beaver become bedtime beech beef beehive
        beetle before behave behind beige belief belong benefit berry beside better between beware
        beyond bicycle bigger bikini billion binary bingo birch bird biscuit bishop bison bizarre
        blade blank blast blend bless blister blonde bloom blossom blunt blur body boil bolster bolt
        bonanza bonfire bonus book boost border borrow boss both bottle bought bounce bouquet boxing
        branch brave breeze bride brief bright brim bring brisk broad broken bronze brook brother
        bruise bubble bucket budget buffalo buggy bugle build bulk bullet bundle bunker burden
        bureau burger burst bushel busy butcher butler buyer buzz bypass byte cabbage cabin cactus
        cafe calcium calf camera canal candle canoe canvas canyon capable capital captain caramel
        cargo carpet carton cascade cashew casino casket castle casual catalog catfish caught
        caution cedar ceiling celery cement census center ceramic cereal chain chalk chamber change
        chapel charm chatter cheap chef cherry chess chief child chimney chin chisel choice chord
        chosen chrome chubby chunk church cider cigar cinema circle citrus city civic claim clarity
        class claw clean clerk client cliff climb cling cloak close cloth cloud clover clown club
        clumsy clutch coax cobalt cobra cocoa code collar colony column comb comet comic common
        company concert conduct confirm connect console contact convoy copper coral cord corner
        cosmic cotton couch cougar could count couple cowboy coyote cozy crab crack cradle craft
        crane crater crawl crayon crazy credit creek crest crew cricket crisp critic crocus crop
        cross crouch crowd crumb crunch crush crystal cube cuddle cuff culture cupcake curious curl
        current curtain curve cushion custom cycle cymbal daddy daisy dare darling data dazzle
        debate debut decent decide decline decoy deer default degree delay delta demand denim depart
        depend deposit depth deputy desire desk despite dessert destiny detect detour develop device
        devote dialect diamond diary dictate diesel diet differ digest digital dilemma dime dinghy
        dining dinner diploma direct disco dismiss display distant divide dizzy doctor dolphin
        domain domino donate donor door double dozen dragon drama drawer dream dress drift drink
        drive drizzle droplet drum dryer duck duke duplex durable during dust duty dwarf dwell
        dynamic each eager eagle early earn earth easy echo eclipse ecology economy edge edible edit
        educate effect effort either elbow elder elect elegant element elevate elite else embark
        ember emblem emerald emotion employ empty emulate enable enamel endless endorse energy
        enforce engine enhance enigma enjoy enlist enough enrich enter entire envy epic episode
        epoch equal equip erase erode errand error erupt escape essay essence estate eternal ethics
        even ever evict evident evil evolve exalt example excel excite excuse execute exempt exhale
        exhibit exist exit exotic expand explain export express extend extra eyebrow fabric facing
        fact fade failure faint fair faith falcon fall false family famous fancy fantasy fashion
        fatigue faucet federal felt female fern fertile fetch fiber fiction fierce fifteen figure
        filter final find finish firm first fist five flag flair flake flannel flash flat flavor
        fleece flex flinch flip float flock flood florist flour flow fluffy fluid flute foam focus
        foliage folk forbid force forest forget fort forum forward fossil foster fowl foyer fragile
        frame freedom fresh friend fringe frisbee frog from frost frown frozen frugal fruit fuel
        funeral furnace fusion future fuzzy gaily galaxy gallery game garage garden garlic garment
        gauge gavel gazelle gecko gemini general genius gentle genuine geology germ gesture getaway
        giant gift giraffe girl given glad glance glaze gleam glen glimmer glitter global glory
        gloss glucose glue gnome goal goat goblin goggle gondola gone good gorilla gossip gourmet
        govern gown grain grand grape grass gray great green grill grin grit grocery groom grotto
        group grove grow grudge grunt guard guava guess guide guitar gulf gully gypsum habit halo
        hamlet hammer hamster hand hangar happen harbor harmony harness harp harvest hasten haul
        have havoc hawk hazel head heart heavy heir helium hello helmet help hence herald hero
        herring hidden high himself hinge hippo hire history hitch hoist holiday hollow holy home
        honest hoof horizon horn horse host hotel hover howl huge hula human humid hundred hungry
        hunt hurdle hurry husband husk hybrid hyena hymn iceberg icon idea idiom idle ignite ignore
        iguana illness image imitate immense immune impact imply import improve inbox inch include
        income indeed indigo indoor inform inhale inherit initial inmate inner input inquiry insect
        inside inspire instant insure intact intend into invent invite invoice iris iron island
        isolate issue itch item itself ivory jacket jade jaguar january jasmine javelin jazz jealous
        jeans jersey jester jewel jigsaw jockey jogger join joke jolly jostle journal joyful jubilee
        juice july jump jungle junior junk jury just kale karma kayak keen kelp kept kernel ketchup
        kick kidney kilo kimono kind kiosk kiss kitchen kite kiwi knee knelt knight knit knob knock
        knuckle koala label labor lace ladder ladle lady lagoon lamb lance lantern laptop large lark
        laugh launch laurel lawful lawn lawyer layer lazy leader league leak leap learn lecture left
        legacy legend leisure lemon lend length lentil leopard less level liberty library license
        lick like lilac lily limb limit linear lion lips liquid list litter llama loaf loan lobby
        lobster locker lodge lofty logic logo lonely loop loose loud lounge love lucky lunar lunch
        lung lure luster luxury lyric machine madam magenta magic magnet magpie maiden main majesty
        maker mallet mammal manage mango manhole mansion manual many maple marble margin marine
        market marry marsh marvel mascot mask mason master matrix maximum maybe mayor maze meadow
        mean measure media meet melody member memory menu mercury merge mermaid mesh message metal
        meteor method metro micro midday mild mimic mineral mint minute miracle mirror mitten mixer
        mixture mobile model modify module moment monarch money monkey month moon more morning most
        motion motor mouse movie much muddy mule muscle museum music musket mustard mutter mutual
        myself mystery myth nail name napkin narrate nature naval navy nebula nectar need neglect
        neither neon nephew network neutral never newborn news next nice nickel nimble ninja noble
        nobody noise nomad noodle normal nose notable notch nothing notice nourish novel nowhere
        nozzle nuclear nudge nugget number nurse nutmeg nymph oasis oath obey object oblige oboe
        observe obtain obvious occupy ocean octagon october oddly odor offer office often okay olive
        olympic omelet omit once online only onward opaque open opera opinion oppose optic oracle
        orange orbit orchard order oregano organ orient origin ostrich other ought ounce outcome
        outdoor outfit outing outlet output outrage outside oval overdue owner oxen oxygen oyster
        ozone pacific package page pair palace palette palm panama pancake panda panel panther paper
        parade parcel pardon park parlor parrot parsley party pass past patent path patient patrol
        pattern pause payment peanut peasant pebble pecan pedal peel pelican pencil penguin penny
        pension people pepper perch perfect perhaps period permit person phantom phase phone photo
        phrase physics piano pickle picnic picture piece pigeon pilgrim pillow pimple pinch pink
        pioneer pipe pirate pistol pivot pixel pizza place plaid plan plastic play plaza pledge
        plenty pliers plot pluck plum plunge plural plus pocket podium poem poet polar police polka
        pollen polygon pond pony popcorn poplar poppy popular portal possum postage potato pottery
        poultry powder power prairie prayer preach precise predict prefer prelude premium prepare
        pretzel prevent primary print prism private prize process produce profit program promise
        proof proper prosper protect proud proverb public pudding puffin pull pulp pulse pumpkin
        pupil puppet purple push puzzle pyramid python quail quake quality quantum quarry queen
        query quest quick quiet quill quite quiver quiz rabbit raccoon radar radiant railway rain
        raisin rally ramble ramp ranch random range rapid rascal rate rather ration rattle raven
        razor ready realm rebuild recall receive recipe record recruit recycle redeem reduce redwood
        reel refer refine reflect refresh refund region regular relate relic rely remain remedy
        remind remote render renew rental repair repeat reply require rescue resist resort respect
        result retail retire retreat return reunion reveal review reward rhythm ribbon rich riddle
        ride ridge rigging rigid ring rinse ripen ripple risk ritual rival river road robe robin
        robot robust rock rodeo roll rookie rooster root rope rosy rotate route royal rubber ruby
        rudder ruffle rugby rugged rule rumor runner runway rural sack saddle sadness safari safety
        saga sail salad salmon salon salt salute sample sanctum sand sapling sash saturn sauce sauna
        sausage save savor sawdust scale scan scarf scatter scene scheme scholar science scoop scout
        screen script scroll sculpt search season seat second secret section seek segment seize
        seldom select self seminar senate senior sense sequel series sermon serpent serve session
        setback settle seven shaft shampoo shape shelf sheriff shield shimmer shine shiver shoe
        shoot shore should shovel shrimp shrub shuffle shut sibling siege sift sigh signal silence
        silk silly silver similar since singer siren sister situate sixteen size sketch skiing skin
        skip skirt skunk skyline slab slant slate slender slide slight slim slogan slope slumber
        slush small smart smash smile smoke smooth smudge snack snail snake snap sneeze sniff snow
        snug soak soccer social soda sofa soggy soldier solid solo soluble solve someone sonar song
        sonic soothe sort soul sound soup source span spare speak special speech spell spend sphere
        spider spike spinach spiral splash split sponge spoon sport spot spouse spread spring sprout
        spruce spur squeeze squid stadium stage stair stand staple stay steady steel stereo stew
        still stir stock stool stop storm stove strand stream strike strong student stuff sturdy
        style subject submit subtle subway succeed such sudden suffer sugar suggest suit summer
        sunday sunny sunset super supper sure surface surge survey sustain swallow swamp swap swarm
        sweep swift swim swing switch sword symbol symptom syrup system table tackle tactic tadpole
        tailor take talent tandem tank target tart tavern taxi teach teapot tease teddy teenage tell
        temper tenant tennis tent term terrace textile thank thaw theater theory these they thick
        thimble thirst this thorn thought thread thrift throne thumb thunder thus thyme tiara ticket
        tidal tidy tiger tight tile timber timid tinder tingle tinsel tiny tissue titan title toast
        tobacco today toffee toilet token told tomato tongue tonight tool tooth topic topple torch
        tornado total toucan tough tour toward town toybox trade traffic trail transit travel tray
        trek tremble trial tribe trigger trip triumph trivial trolley trophy trot true truffle
        trumpet trunk trust truth tuba tuesday tugboat tuition tulip tumble tundra tune tunnel
        turban turkey turn turtle tutor twelve twenty twice twin twirl twist type typhoon typical
        umpire unaware uncle uncover under undo unfold unicorn uniform union unique unison unit
        unknown unless unlock unpack unravel until unusual unveil unwind upbeat update upgrade
        uphill uplift upload upon upper upright upside uptown upward uranium urban urge used useful
        usual utensil utility utmost utter vacant vacuum vague valid valor valve vanilla variety
        varnish vase vault vector vegan vehicle veil velvet vendor venture venue verb verdict verify
        verse very vessel veteran viable vibrant victim video view vine vintage vinyl virtue visa
        visible visual vital vivid vocal voice void volcano volley volume vote voucher vowel voyage
        waffle wagon wait wake walk walnut walrus waltz want warm warning warrior wasp waste watch
        water waxing wealth wear weasel weather weave wedding wedge week weight welcome weld west
        wetland whale wharf what wheat wheel when where whether which whip whisk whom whose wicker
        widget width wife will wink winter wisdom wish witness wizard wolf woman wonder wool work
        world worth woven wrap wreath wrestle wrinkle wrist write yacht yard year yeast yellow yield
        yoga yogurt york young your youth zeal zebra zenith zero zest zigzag zinc zipper zodiac zone
        zoology zoom
        """
}
