/** What people say without asking anything. In a text that is made of nothing else there is nothing to look for. */
const COURTESY = [
  `hi hello hey hiya greetings morning evening afternoon night good day welcome bye goodbye cheers thanks thank thx ty
   please ok okay okey k yes yeah yep yup no nope nah sure fine great cool talk nice perfect awesome amazing excellent
   brilliant wonderful lovely fantastic super wow oh ah uh um hmm hm haha hahaha lol rofl lmao genius best one love it
   sounds look looks good works working right exactly indeed alright agreed done got gotcha understood noted never mind
   nevermind whatever sorry oops again later soon tomorrow tonight today see talk back minute minutes moment let me
   think about for a while i am im you are youre thats its so much very really all the that this is was it its a million
   bored tired funny joke made laugh impressed impressive well just now too there here then what wow phew uff hooray
   yay how doing going everything friend buddy mate dude read my mind makes sense a lot`,
  `bonjour bonsoir salut coucou merci beaucoup bien mille fois parfait super génial excellent top cool oui non ok
   d'accord accord entendu compris voilà voila bon bonne nuit journée soirée à demain plus tard bientôt tout de
   suite au revoir ça va c'est est marche de rien pas mal je suis mort rire haha mdr ptdr désolé pardon très trop
   j'adore adore tu vous êtes es le la meilleur e hein ah oh euh bref alors et toi vous`,
  `hola buenos buenas días tardes noches adiós chao hasta luego mañana pronto gracias muchas mil perfecto genial vale
   bien muy bueno buena qué que tal cómo como estás está todo sí si no ok de acuerdo entendido claro ya funciona nada
   por favor perdón perdona lo siento jaja jajaja jajajaja risa gusta me encanta eres el la mejor excelente estupendo
   fantástico increíble guay mola ay uf oye eso es`,
  `hallo hi guten morgen tag abend nacht tschüss ciao danke vielen dank schön sehr gut super toll klasse perfekt prima
   genau ja nein ok okay alles klar verstanden gerne bitte bis bald später morgen haha lol stimmt passt das ist war
   entschuldigung sorry`,
  `ciao buongiorno buonasera grazie mille perfetto bene ottimo ok sì no va d'accordo a domani dopo presto prego scusa
   olá oi bom dia boa tarde noite obrigado obrigada perfeito ótimo tá sim não até amanhã logo valeu`,
].join(' ');

/** Courtesies of scripts without spaces, the longer ones first where one begins with another. */
const UNSPACED_COURTESY = [
  '早上好 上午好 中午好 下午好 晚上好 你好呀 您好 你好 嗨 哈喽 早安 晚安 早 谢谢你 谢谢您 谢谢 多谢 感谢 辛苦了 辛苦 明天见 回头见 再见 拜拜 好的 好吧 好了 好 行 嗯嗯 嗯 哦 噢 啊 呀 呢 吧 啦 了 是的 对的 对 没错 不错 可以 没问题 没事 知道了 知道 明白了 明白 懂了 懂 收到 太好了 太棒了 太 真 棒 厉害 完美 赞 哈哈哈 哈哈 哈 呵呵 嘿嘿 笑死我了 笑死 就这样 就 这样 那 算了 解决了 解决 搞定了 搞定 不好意思 对不起 抱歉 麻烦你了 请 我 你 很 无聊 好累 累',
  'おはようございます おはよう こんにちは こんばんは はじめまして ありがとうございました ありがとうございます ありがとう どうも 助かりました 助かった 助かる お疲れさまでした お疲れ様でした お疲れさま お疲れ様 お疲れ おやすみなさい おやすみ さようなら またね また明日 また 明日 じゃあね じゃあ じゃ バイバイ はい うん ううん いいえ いいね いいよ いい 了解です 了解 わかりました わかった 分かりました 分かった なるほど そうですね そうだね そう オッケー 大丈夫 すごいね すごい さすが 完璧 最高 へえ おお ああ えっと うーん 笑 ごめんなさい ごめん すみません 失礼します お願いします よろしく よし 動いた 動いたよ できた です ます ね よ な だ ! は',
]
  .join(' ')
  .split(' ');

/**
 * Words that stand in any text: that one of them is shared tells less of what a question and a memory are about.
 * Pairs of characters are those that scripts without spaces are split into.
 */
const PLAIN = [
  `call called name named live lives living work works working use uses used using go goes going went come comes make
   makes made want wants need needs like likes give gives take takes get gets got put set keep keeps find show tell say
   says said know think thing things way day days time times week month year years new old good best right long short
   big small many much first last next now today tomorrow again still really just little lot kind sort part people
   person man woman number line word words list write written writes wrote read reads explain help start starts stop
   run runs change changes look looks ask asks add made man good place point order question answer example idea note
   simple different same whole high low left right able possible sure please file thing text case tell should must`,
  `comment pourquoi où qui quoi quels quelles appelle appeler nom fait faire fais utilise utiliser veux veut peux peut dois doit aller va vais mettre mets donner
   donne prendre dire dis savoir sais voir vois jour jours semaine mois année temps fois nouveau nouvelle bon bonne
   grand petit premier dernier chose choses manière écris écrire explique expliquer aide liste mot mots ligne exemple
   question réponse même autre combien quand quelle quel trouve trouver change changer marche sert place gens`,
  `cómo como dónde donde quién quien cuál cuáles llama llamar nombre hago hace hacer haz usa usar uso quiero quiere puedo puede debo debe tengo tiene ir voy poner
   pon dar dame tomar decir di saber sé ver día días semana mes año vez veces nuevo nueva bueno buena grande pequeño
   primero último cosa cosas manera escribe escribir explica ayuda lista palabra línea ejemplo pregunta respuesta mismo
   otro cuánto cuándo encontrar cambiar gente sirve`,
  `wie wo wer warum wann welche welcher welches heißt heißen name mache macht machen benutze benutzt nutzen will kann muss gehen geht geben gibt nehmen sagen wissen
   sehen tag tage woche monat jahr zeit mal neu neue gut groß klein erste letzte sache dinge schreibe schreiben erkläre
   hilf liste wort zeile beispiel frage antwort gleich andere`,
].join(' ');
const PLAIN_PAIRS =
  '名字 名叫 叫什 什么 时候 多少 哪里 哪个 怎么 怎样 如何 为什 现在 目前 今天 明天 每天 每月 每个 一个 一下 时间 东西 事情 问题 使用 用的 可以 应该 需要 喜欢 知道 告诉 解释 介绍 帮我 请问 写一 一篇 一首 名前 何時 何曜 曜日 何番 誰が 今日 明日 毎月 毎日 毎週 時間 使用 使う 使っ 教え 説明 書い 作っ 場所 方法 最近 現在 予定 目標 早上 上午 下午 晚上'.split(
    ' ',
  );

const courtesies = new Set(COURTESY.split(/\s+/));
const plain = new Set([...PLAIN.split(/\s+/), ...PLAIN_PAIRS]);
const WORDS = /[\p{L}\p{M}\p{N}']+/gu;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
/** Longer texts say more than courtesies. */
const MOST_CHARS = 120;

/** Whether a text is nothing but a greeting, thanks, assent and the like. */
export function isCourtesy(text: string): boolean {
  if (text.length > MOST_CHARS) return false;
  const words = text.normalize('NFKC').toLowerCase().replaceAll('’', "'").match(WORDS) ?? [];
  return words.every(
    (word) =>
      courtesies.has(word) ||
      courtesies.has(word.replaceAll("'", '')) ||
      (UNSPACED.test(word) && isUnspacedCourtesy(word)),
  );
}

/** Whether a run of characters can be cut into courtesies without rest. */
function isUnspacedCourtesy(run: string): boolean {
  const reached = new Array<boolean>(run.length + 1).fill(false);
  reached[0] = true;
  for (let at = 0; at < run.length; at += 1)
    if (reached[at])
      for (const word of UNSPACED_COURTESY) if (run.startsWith(word, at)) reached[at + word.length] = true;
  return reached[run.length] ?? false;
}

/** Whether a word, in lower case, stands in any text. */
export function isPlain(word: string): boolean {
  return plain.has(word);
}
