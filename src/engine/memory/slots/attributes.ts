import { type Found, plain, type Statement, slotName, subjectOf } from './statement.ts';

/** Things of which one has one at a time, by what they are called in English, Spanish, French, Chinese and Japanese. */
const THINGS: Readonly<Record<string, string>> = {
  phone:
    'phone number|phone|telephone number|telephone|cell phone|cell|mobile number|mobile|cellphone|número de teléfono|teléfono|móvil|celular|numéro de téléphone|téléphone|portable|电话号码|手机号码|手机号|电话|手机|電話番号|電話|携帯番号|携帯電話|携帯',
  email:
    'email address|e-mail address|email|e-mail|mail address|correo electrónico|correo|adresse e-mail|adresse email|adresse mail|courriel|邮箱地址|邮箱|电子邮件|メールアドレス|メール',
  address: 'home address|street address|address|dirección|adresse|家庭住址|住址|地址|住所',
  birthday: 'birthday|birth date|birthdate|date of birth|cumpleaños|anniversaire|生日|誕生日',
  age: 'age|edad|âge|年龄|年齢',
  name: 'full name|first name|last name|surname|name|nombre|apellido|prénom|nom|名字|姓名|名前|氏名',
  nickname:
    'nickname|handle|username|user name|apodo|usuario|surnom|pseudo|昵称|用户名|ニックネーム|ユーザー名',
  job: 'job title|job|title|position|occupation|profession|puesto|profesión|cargo|poste|métier|职位|职业|職業|役職',
  employer: 'employer|empleador|employeur|雇主|勤務先',
  boss: 'boss|manager|supervisor|line manager|jefe|jefa|chef|cheffe|老板|上司|经理|上司',
  doctor: 'doctor|gp|dentist|therapist|médico|dentista|médecin|dentiste|医生|牙医|主治医',
  partner:
    'wife|husband|spouse|partner|girlfriend|boyfriend|esposa|esposo|marido|novia|novio|épouse|mari|妻子|丈夫|老婆|老公|妻|夫',
  city: 'home town|hometown|city|ciudad|ville|城市|都市',
  country: 'country|país|pays|国家|国',
  timezone: 'time zone|timezone|zona horaria|huso horario|fuseau horaire|时区|タイムゾーン',
  language: 'native language|mother tongue|language|idioma|lengua|langue|语言|母语|言語',
  editor: 'code editor|text editor|editor|ide|éditeur|编辑器|エディタ|エディター',
  shell: 'shell',
  terminal: 'terminal emulator|terminal|终端|ターミナル',
  browser: 'web browser|browser|navegador|navigateur|浏览器|ブラウザ',
  laptop: 'laptop|notebook|portátil|ordinateur portable|笔记本电脑|笔记本|ノートパソコン',
  computer: 'computer|ordenador|computadora|ordinateur|电脑|パソコン',
  car: 'car|coche|carro|voiture|汽车|車',
  theme: 'color theme|colour theme|theme|color scheme|tema|thème|主题|テーマ',
  font: 'font|fuente|police|字体|フォント',
  pronouns: 'pronouns|pronombres|pronoms',
  currency: 'currency|moneda|devise|货币|通貨',
  bank: 'bank|banco|banque|银行|銀行',
  port: 'port number|port|puerto|端口号|端口|ポート番号|ポート',
  host: 'hostname|host name|host|主机名|ホスト名',
  ip: 'ip address|ip|dirección ip|adresse ip|ip 地址|ip地址|ipアドレス',
  url: 'base url|url|link|endpoint|domain|domain name|dominio|domaine|域名|网址|ドメイン',
  version: 'version number|version|versión|版本号|版本|バージョン',
  branch: 'default branch|main branch|branch|rama|branche|分支|ブランチ',
  region: 'region|región|région|区域|リージョン',
  deadline:
    'deadline|due date|fecha límite|fecha de entrega|date limite|échéance|截止日期|截止时间|期限|締め切り|締切|納期',
  release: 'release date|launch date|fecha de lanzamiento|date de sortie|发布日期|リリース日',
  budget: 'budget|presupuesto|预算|予算',
  price: 'price|monthly price|hourly rate|rate|precio|tarifa|prix|tarif|价格|单价|価格|料金',
  salary: 'salary|sueldo|salario|salaire|工资|薪水|給料',
  owner:
    'on-call engineer|on-call developer|on-call person|owner|product owner|lead|team lead|tech lead|maintainer|on-call|responsable|负责人|担当者|責任者|リーダー',
  contact: 'emergency contact|contact|contacto|联系人|連絡先',
  size: 'shoe size|ring size|size|talla|taille|pointure|尺码|サイズ',
  weight: 'weight|peso|poids|体重',
  height: 'height|altura|身高|身長',
  goal: 'goal|target|meta|objetivo|objectif|目标|目標',
  limit: 'limit|quota|threshold|timeout|límite|umbral|limite|seuil|限额|阈值|超时|上限|タイムアウト',
  wifi: 'wifi name|wi-fi name|wifi network|ssid',
  room: 'room number|room|seat|desk|locker|sala|salle|房间号|房间|座位|部屋|座席',
  gate: 'gate|puerta de embarque|porte d’embarquement|登机口|搭乗口',
  subscription: 'subscription plan|subscription|plan tier|abono|abonnement|订阅|プラン',
  diet: 'diet|dieta|régime',
  model: 'default model|model|modelo|modèle|模型|モデル',
  license: 'license|licence|licencia|许可证|ライセンス',
  color: 'color|colour|couleur|颜色|色',
  food: 'food|dish|meal|comida|plato|plat|食物|菜|食べ物|料理',
  drink: 'drink|beverage|bebida|boisson|饮料|飲み物',
  framework: 'framework|marco|框架|フレームワーク',
  database: 'database|db|base de datos|base de données|数据库|データベース',
};
/** Of these one has many, unless one is said to be the favourite or the like. */
const MANY = new Set([
  'color',
  'food',
  'drink',
  'language',
  'car',
  'theme',
  'contact',
  'goal',
  'link',
  'limit',
]);
const CHOSEN =
  /\b(?:favou?rite|preferred|default|main|primary|native|mother|favorit[oa]|preferid[oa]|predeterminad[oa]|préférée?|par défaut)\b|最喜欢|首选|默认|主要|最爱|好きな|既定|デフォルト/iu;

const KIND_OF = new Map<string, string>();
for (const [kind, names] of Object.entries(THINGS))
  for (const name of names.split('|')) KIND_OF.set(name, kind);
const NAMES = [...KIND_OF.keys()].sort((a, b) => b.length - a.length);
const escaped = (name: string) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
const LATIN = NAMES.filter((name) => /^\p{Script=Latin}/u.test(name))
  .map(escaped)
  .join('|');
const WIDE = NAMES.filter(
  (name) => !/^\p{Script=Latin}/u.test(name) || /[^\p{ASCII}\p{Script=Latin}’]/u.test(name),
)
  .map(escaped)
  .join('|');

const ENGLISH = new RegExp(
  `^(?<before>.{0,80}?)(?<![\\p{L}-])(?<name>${LATIN})(?<behind> (?:of|for|at|in|on) .{2,40}?)? (?:is|are|was changed to|has been changed to|has changed to|was moved to|has moved to|changed to|moved to|became|has become) (?<value>.{1,120})$`,
  'iu',
);
const COLON = new RegExp(
  `^(?<before>.{0,60}?)(?<![\\p{L}-])(?<name>${LATIN})(?<behind>)\\s?[:=]\\s?(?<value>.{1,120})$`,
  'iu',
);
const ROMANCE = new RegExp(
  `^(?<before>.{0,40}?)(?<![\\p{L}-])(?<name>${LATIN})(?<behind>(?: \\p{L}+)?(?: (?:de|del|du|des|d['’]).{1,60}?)?) (?:es|son|será|est|sont|cambió a|ha cambiado a|pasó a ser|pasa a ser|a changé pour|est devenue?|devient|passe à|est passée? à) (?<value>.{1,120})$`,
  'iu',
);
const CHINESE = new RegExp(
  `^(?<before>.{0,40}?)(?<name>${WIDE}|IP)(?<behind>)\\s*(?:是|为|:|=|改成了?|改为了?|改到了?|变成了?|换成了?|换到了?|更新为|更改为|延到了?)\\s*(?<value>.{1,60}?)了?$`,
  'iu',
);
const JAPANESE = new RegExp(
  `^(?<before>.{0,40}?)(?<name>${WIDE}|IP)(?<behind>)\\s*(?:は|が|:)\\s*(?<value>.{1,60}?)(?:です|だ|になりました|になった|に変わりました|に変わった|に変更しました|に変更になりました|に変更されました|に変更|に変えました|に移りました)?$`,
  'iu',
);
const INVERSE = new RegExp(
  `^(?<value>\\p{Lu}[\\p{L}\\p{N}.'’-]*(?: \\p{Lu}[\\p{L}\\p{N}.'’-]*){0,3}) is (?<before>(?:my|our|the)(?: new| current)?(?: \\p{L}+){0,2}?) (?<name>${LATIN})(?<behind>(?: (?:of|for) .{2,40})?)$`,
  'u',
);
const PATTERNS = [INVERSE, ENGLISH, COLON, ROMANCE, CHINESE, JAPANESE];

/** A value that a thing can have; `my phone is broken` names none. */
function isValue(kind: string, value: string): boolean {
  if (
    /^(?:not|too|very|so|still|here|there|being|going|always|never|down|up|broken|slow|full|missing|wrong)\b/i.test(
      value,
    )
  )
    return false;
  if (/^(?:muy|demasiado|trop|très|坏|很|太|没|不|壊れ)/iu.test(value)) return false;
  if (/[\p{N}\p{Lu}@/"'\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}]/u.test(value)) return true;
  return WORDED.has(kind) || /[\p{L}\p{N}]\.\p{L}/u.test(value);
}
/** Things whose values are words without a capital. */
const WORDED = new Set(
  'name nickname job color food drink theme font car diet branch language editor shell terminal browser currency license model framework database pronouns region room laptop computer'.split(
    ' ',
  ),
);

/** `my phone is …`, `the port of the billing service is …`, `我的邮箱是…`. */
export function attributeIn({ text, future, past, negated, changed, added }: Statement): Found {
  const nothing: Found = { tells: [], ends: [] };
  if (future || added || negated || (past && !changed)) return nothing;
  for (const pattern of PATTERNS) {
    const groups = pattern.exec(text)?.groups;
    if (!groups?.name || groups.value === undefined) continue;
    const { before = '', behind = '', name } = groups;
    const kind = KIND_OF.get(name.toLowerCase()) ?? (name.toLowerCase() === 'ip' ? 'ip' : null);
    const value = groups.value.replace(/^(?:ahora|now|a|an|un|une|el|la|le) /i, '');
    if (kind === null || !isValue(kind, value)) return nothing;
    const chosen = CHOSEN.test(before) || CHOSEN.test(behind);
    if (MANY.has(kind) && !chosen) return nothing;
    // Whose it is, when it is not the speaker's own.
    if (/\b(?:his|her|their|its|su|sus|son|sa|leur)\b|[他她它](?:们)?的|彼(?:女)?の/iu.test(before))
      return nothing;
    const yours = /\b(?:your|tu|tus|ton|ta|tes|votre)\b|你的|あなたの/iu.test(before) ? ' ~you' : '';
    const subject = subjectOf(`${before.replace(CHOSEN, ' ')} ${behind.replace(CHOSEN, ' ')}`);
    const family = `attr/${chosen ? 'chosen ' : ''}${kind}${kind === 'phone' && /\d{4}|\d{2,}[ -]\d{2,}/.test(value) ? ' number' : ''}`;
    return {
      tells: [{ slot: slotName(family, `${subject}${yours}`.trim()), value: plain(value) }],
      ends: [],
    };
  }
  return nothing;
}

const UNIT =
  'seconds?|minutes?|hours?|days?|weeks?|months?|years?|percent|%|[kmgt]i?b|km|m|cm|kg|g|euros?|dollars?|degrees?|points?|people|segundos?|minutos?|horas?|días?|semanas?|meses|años?|secondes?|heures?|jours?|semaines?|mois|ans';
const MEASURE = new RegExp(
  `^(?<before>(?:the|our|my|el|la|nuestr[oa]|mi|le|notre|mon|ma) .{2,60}?) (?:is|are|takes|costs|lasts|was changed to|changed to|went up to|went down to|es|son|dura|cuesta|est|sont|dure|coûte) (?<value>[$€£¥]?\\d+(?:[.,]\\d+)*(?: ?(?:${UNIT}))?)$`,
  'iu',
);

/** `the retention period is 30 days`. */
export function measureIn({ text, future, past, negated, added, changed }: Statement): Found {
  const groups = MEASURE.exec(text)?.groups;
  if (!groups || future || negated || added || (past && !changed)) return { tells: [], ends: [] };
  const subject = subjectOf(groups.before ?? '');
  if (subject === '') return { tells: [], ends: [] };
  return { tells: [{ slot: slotName('measure', subject), value: plain(groups.value ?? '') }], ends: [] };
}

const COUNT =
  /^(?<before>.{1,60}?) (?:have|has|['’]ve got|tiene|tienen|tengo|tenemos|avons|ai|a|ont) (?<value>\d+|one|two|three|four|five|six|seven|eight|nine|ten|dos|tres|cuatro|cinco|deux|trois|quatre|cinq) (?<name>[\p{L} -]{2,40})$|^(?<wide>.{1,20}?)有\s?(?<number>[\d一两二三四五六七八九十]+)\s?(?<thing>[个只名位台条辆间套]?[\p{Script=Han}]{1,8})$/iu;

/** `I have two cats`, `the team has 5 developers`. */
export function countIn({ text, future, past, negated, added, changed }: Statement): Found {
  const groups = COUNT.exec(text)?.groups;
  if (!groups || future || negated || added || (past && !changed)) return { tells: [], ends: [] };
  const { before, name, wide, thing } = groups;
  const subject = subjectOf(`${before ?? wide ?? ''} ${name ?? thing ?? ''}`);
  if (subject === '') return { tells: [], ends: [] };
  const value = (groups.value ?? groups.number ?? '').toLowerCase();
  return { tells: [{ slot: slotName('count', subject), value: NUMBERS[value] ?? value }], ends: [] };
}
const NUMBERS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'one 一',
    'two dos deux 两 二',
    'three tres trois 三',
    'four cuatro quatre 四',
    'five cinco cinq 五',
    'six 六',
    'seven 七',
    'eight 八',
    'nine 九',
    'ten 十',
  ].flatMap((words, at) => words.split(' ').map((word) => [word, String(at + 1)])),
);

const PORT =
  /^(?<before>.*?)\b(?:on|to|at|uses?|en el|sur le|escucha en el|écoute sur le)?\s*(?:port|puerto)\s*(?<value>\d{2,5})(?<behind>.*)$|^(?<wide>.*?)(?:端口|ポート)\s*(?<number>\d{2,5})/iu;

/** `the API listens on port 3000`. */
export function portIn({ text, future, past, negated, changed }: Statement): Found {
  const groups = PORT.exec(text)?.groups;
  if (!groups || future || negated || (past && !changed)) return { tells: [], ends: [] };
  const value = groups.value ?? groups.number ?? '';
  const subject = subjectOf(
    `${groups.before ?? ''} ${groups.behind ?? ''} ${groups.wide ?? ''}`.replace(
      /\b(?:listens?|listening|runs?|serves?|exposed|available|bound|escucha|écoute)\b|监听|运行|在/giu,
      ' ',
    ),
  );
  return { tells: [{ slot: slotName('attr/port', subject), value }], ends: [] };
}
