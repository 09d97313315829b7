import { ENGLISH } from './languages.ts';

/**
 * Words that people use for the same thing (`=`), and what they ask for with the name of its kind (`>`). Everyday
 * English and the words of offices and computers; the other languages of a store are searched by their own words.
 */
const KIN = `
trip = travel vacation holiday journey getaway tour visit voyage
colleague = coworker workmate teammate associate
child = kid son daughter toddler baby
parent > mother father mom dad mum
family > sister brother mother father mom dad son daughter cousin aunt uncle grandma grandpa wife husband
sibling > sister brother
grandparent > grandma grandpa grandmother grandfather granny
partner = spouse wife husband boyfriend girlfriend fiance
friend = buddy pal mate
pet > dog cat puppy kitten hamster parrot fish turtle tortoise rabbit bunny snake bird
dog = puppy pup
cat = kitten
animal > dog cat horse bird bear elephant lion tiger turtle
movie = film cinema
show = series episode sitcom
book = novel read author story
music > song album band concert guitar piano violin playlist
instrument > guitar piano violin drums flute clarinet cello saxophone trumpet
sport > football soccer basketball tennis baseball volleyball swimming running cycling skiing hockey golf
exercise = workout gym training fitness
exercise > yoga running swimming pilates jogging weights
outdoor > hike camping climbing mountaineering kayaking fishing trail surfing skiing park
hike = trek trail walk
hobby = interest pastime
hobby > painting knitting gardening photography reading cooking fishing pottery woodworking
art = artwork painting drawing sculpture sketch
craft > pottery knitting sewing woodworking crochet
photo = picture pic image photograph snapshot
game = gaming play
food = meal dish cuisine
recipe = dish cook bake
meal > breakfast lunch dinner supper brunch
dessert = sweet treat cake pie tart cookie brownie
bake > bread cake cookie pie muffin pastry
drink = beverage coffee tea wine beer juice cocktail
allergy = allergic intolerance
diet = vegetarian vegan gluten
restaurant = cafe diner bistro eatery
job = career profession occupation work position employment
job > teacher engineer nurse lawyer designer developer accountant banker manager
company = firm employer business startup
business = shop store startup company
boss = manager supervisor lead
fire = layoff dismissed
salary = pay wage income
study = school degree university college course education
school = college university class
class = course lesson workshop
exam = test grade
degree = diploma graduate major bachelor master phd
home = house apartment flat condo
move = relocate
city = town hometown
country > italy france spain germany japan china india mexico canada england ireland sweden brazil
vehicle = car truck bike motorcycle van
car = auto automobile
fix = repair mend restore
buy = purchase bought got
sell = sold
gift = present
celebrate = party celebration
event = party concert festival conference parade fair ceremony gathering
wedding = marry married marriage
engage = propose fiance
birth = born birthday
illness = sick disease ill cancer flu
injury = hurt injured pain accident sprain broke fracture
doctor = physician hospital clinic appointment
medicine = medication pill prescription
health = medical wellness fitness
stress = anxiety pressure overwhelmed
therapy = counseling therapist counselor psychologist
sad = upset grief loss
happy = joy glad excited
scared = fear afraid
die = death passed pass lost funeral
volunteer = charity shelter nonprofit donate
donate = charity fundraiser raise
award = prize trophy medal win won recognition
win = won victory champion
competition = tournament contest championship match race
goal = plan dream aspiration hope
begin = start
finish = complete done
quit = stop leave left
learn = study practice
teach = mentor coach tutor
meet = met
talk = chat conversation speak discuss
advice = suggestion recommend tip
recommend = suggest suggestion
help = support assist
like = love enjoy favorite prefer
favorite = prefer love best
hate = dislike
want = wish hope
beautiful = gorgeous stunning lovely
big = large huge
nature = outdoors forest mountain lake river beach
beach = ocean sea coast shore
mountain = peak hill
garden = plant flower vegetable
plant > flower rose tree tomato herb basil sunflower
weather = rain snow storm sunny
religion = church faith god mosque temple prayer
music = song
clothes = clothing dress shirt jacket shoes outfit wear
jewelry > necklace ring bracelet earrings
color > red blue green yellow purple orange pink black white
phone = cell mobile smartphone
computer = laptop pc desktop
device > phone laptop tablet computer console
console > playstation xbox nintendo switch
database > postgres postgresql mysql sqlite mongodb redis oracle
language > python javascript typescript rust java golang ruby
framework > react vue angular django rails spring
cloud > aws azure gcp
editor > vim neovim emacs vscode
os > linux windows macos ubuntu debian
server = host machine
deploy = release rollout ship
bug = defect issue error
test = spec
repo = repository git
meeting = call standup sync appointment
deadline = due
schedule = appointment plan calendar
price = cost paid
money = budget savings funds cash
flight = fly plane airport
hotel = hostel airbnb accommodation
train = rail
address = street
`;

let kin: ReadonlyMap<string, readonly string[]> | null = null;

/** Stems of words that may stand for the one with this stem. */
export function kinOf(stem: string): readonly string[] {
  kin ??= read();
  return kin.get(stem) ?? [];
}

function read(): Map<string, string[]> {
  const all = new Map<string, Set<string>>();
  const join = (one: string, other: string) => {
    if (one === other) return;
    const known = all.get(one) ?? new Set();
    all.set(one, known.add(other));
  };
  for (const line of KIN.split('\n')) {
    const [head, rest] = line.split(/ [=>] /);
    if (head === undefined || rest === undefined) continue;
    const members = rest.split(' ').map((word) => ENGLISH.stem(word));
    const first = ENGLISH.stem(head);
    for (const member of members) {
      join(first, member);
      join(member, first);
      if (line.includes(' = ')) for (const other of members) join(member, other);
    }
  }
  return new Map([...all].map(([stem, others]) => [stem, [...others]]));
}
