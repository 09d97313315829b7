/**
 * Words of English, Spanish, French, Chinese and Japanese that say how a statement is meant. Latin ones match whole
 * words; the others match anywhere, since these languages put no spaces.
 */
function phrases(latin: string, others: string): RegExp {
  const words = latin.trim().replace(/\s*\n\s*/g, '');
  const longestFirst = others
    .trim()
    .split(/\s+/)
    .sort((a, b) => b.length - a.length);
  return new RegExp(
    `(?<![\\p{Script=Latin}\\p{N}-])(?:${words})(?![\\p{Script=Latin}\\p{N}-])|${longestFirst.join('|')}`,
    'giu',
  );
}

const MONTH =
  'january|february|march|april|may|june|july|august|september|october|november|december|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre';

/** When something began or was said, and other words beside the point; they tell nobody's facts apart. */
export const ASIDE = phrases(
  `now|currently|today|nowadays|these days|at the moment|at present|from now on|going forward|finally|recently|just
   |already|actually|again|as of (?:today|now|\\d{4}|(?:${MONTH})(?: \\d{4})?)|last (?:week|month|year|night|\\p{L}+day|weekend|spring|summer|autumn|fall|winter)
   |since (?:then|\\d{4}|(?:${MONTH})(?: \\d{4})?|yesterday|last (?:week|month|year))|yesterday|this (?:week|month|year|morning|spring|summer)
   |in (?:${MONTH})(?: \\d{4})?|in \\d{4}|by the way|btw|fyi|for the record|please|remember(?: that)?|note(?: that)?|keep in mind(?: that)?
   |any ?more|any longer|officially|fully|completely|everywhere|well|ok|okay|so|hey|always|for context|for reference|important
   |ahora|actualmente|hoy|ya|recientemente|por fin|finalmente|desde (?:ahora|hoy|ayer)|por cierto|por favor|recuerda(?: que)?
   |la semana pasada|el mes pasado|el año pasado|ayer|en (?:${MONTH})(?: de \\d{4})?|en \\d{4}|siempre|de nuevo
   |maintenant|désormais|actuellement|aujourd['’]hui|déjà|récemment|enfin|dorénavant|à partir de maintenant|au fait
   |s['’]il (?:te|vous) plaît|la semaine dernière|le mois dernier|l['’]an dernier|l['’]année dernière|hier|toujours`,
  `从现在起 从现在开始 现在 目前 当前 如今 已经 最近 刚刚 刚才 上周 上个月 去年 昨天 今天 今年 以后 今后 终于 请记住 记住 请 顺便说一下 一直 总是
   現在は 現在 今は 今 もう すでに 最近 先週 先月 昨日 今日 これから 今後 ようやく 覚えておいて ちなみに 常に いつも`,
);

/** From here on a reason or a purpose follows. */
export const REASON =
  /(?:,?\s*(?<![\p{L}\p{N}])(?:because|since (?:we|it|its|the|i|our|they|that)|so that|so (?:we|i|it)|due to|thanks to|in order to|which|to (?:save|reduce|improve|avoid|get|cut)|porque|ya que|debido a|para que|puesto que|lo cual|parce que|parce qu['’]|car|puisque|à cause d|afin d)(?![\p{L}\p{N}]).*|[，,]?\s*(?:因为|由于|以便|为了).*)$/isu;

/** In front of it, the reason was given first. */
export const REASON_BEFORE = /^(?:因为|由于)[^，,]*[，,](?:所以)?|^.*?(?:ので|ため)、/u;

export const QUESTION = /[?？]\s*$|(?:吗|呢|ですか|ますか|でしょうか)[。.]?\s*$/u;

/** Holds on a condition only: no plain fact. */
export const CONDITION = phrases(
  `if|unless|except|whenever|when|while|either|depending|si|cuando|salvo|excepto|mientras|quand|sauf|lorsque|pendant que|lorsqu`,
  '如果 除非 除了 的时候 时候 要是 もし 場合 ならば とき たら 以外',
);

/** One of several, and nobody can tell which. */
export const VAGUE = phrases(
  'other|others|first(?! name)|second|third|last(?! (?:name|week|month|year|night|\\p{L}+day|weekend|spring|summer|autumn|fall|winter|time))|some|most|many|half|one of|old|former|previous|otro|otra|otros|otras|segundo|segunda|algunos|autre|autres|deuxième|certains|certaines|ancien|ancienne',
  '另一 其他 其它 别的 第二 有些 有的 大多 別の 他の もう一つ 一部 古い',
);

/** Something is added; what was there stays. */
export const ADDITION = phrases(
  'also|too|as well|in addition|besides|another|additionally|both|alongside|también|además|aussi|également|en plus',
  '另外还 也 还(?!是|原) 同时 (?<=[\\p{L}\\p{N}])も(?=使|利用|採用|好) さらに 加えて',
);

/** Not yet so, or perhaps. */
export const FUTURE = phrases(
  `will|won['’]t|would|['’]ll|going to|gonna|plan|plans|planning|might|(?<!(?:\\d|in|since|until|by|of|this|last|next) )may(?! \\d)|maybe|perhaps|could|should|considering|consider|thinking|want to|wants to|would like to
   |hope|hoping|try|trying|tried|evaluating|next (?:week|month|year|sprint|quarter)|soon|eventually|someday|tomorrow|wish|wondering|deciding
   |vamos a|voy a|planeamos|planeo|quizás|quizá|tal vez|podríamos|podría|queremos|quiero|pensamos|pensando|mañana|próximo|próxima
   |allons|vais|prévoyons|prévoit|peut-être|pourrions|pourrait|voudrions|voulons|envisageons|demain|prochain|prochaine|essayons`,
  '打算 计划 考虑 可能 也许 想要 想把 将要 即将 准备 明天 下周 下个月 予定 検討 かもしれ つもり たいと思 たいです 明日 来週 来月',
);

/** It was so once. */
export const PAST = phrases(
  `used|was|were|had|had been|formerly|previously|back then|before|once|originally|in the past|years ago|lived|worked|preferred|ran|until
   |antes|usábamos|usaba|utilizábamos|era|eran|vivía|trabajaba|solía|solíamos|hasta
   |avant|utilisait|utilisions|utilisais|était|étaient|habitais|vivais|travaillais|autrefois|jusqu`,
  '以前 之前 曾经 原来 过去 当时 以前は 昔 かつて ていました でした ていた だった',
);

export const NEGATION = phrases(
  `no longer|not|never|don['’]t|do not|doesn['’]t|does not|isn['’]t|aren['’]t|can['’]t|cannot|no more|nobody|none|no|stopped|stop|quit|avoid|avoids|without|got rid of|dropped|ditched|abandoned|gave up
   |hate|hates|dislike|dislikes|can['’]t stand|refuse|refuses
   |ya no|no|nunca|jamás|dejamos|dejé|sin|evita|evitar|evito|evitamos|abandonamos|odio|odia|detesto
   |ne|pas|jamais|sans|évite|évitez|éviter|évitons|arrêté|abandonné|déteste|n['’]aime`,
  "(?<!\\p{L})n['’](?=\\p{L}) 不再 不要 不用 不使用 不喜欢 不 没有 没 别 停止 弃用 放弃 讨厌 ない ません なくな やめ 廃止 避け 禁止 嫌い 苦手 するな",
);

/** Words that say that something became otherwise. */
export const CHANGE = phrases(
  `moved|migrated|switched|changed|upgraded|downgraded|updated|replaced|converted|relocated|no longer|now|instead|from now on|any ?more|stopped|new|became|dropped|ditched|correction|rather|slipped|postponed|rescheduled|pushed|shifted|joined
   |migramos|migré|migrado|cambiamos|cambié|cambió|cambiado|pasamos|pasé|ahora|ya no|reemplazamos|reemplazado|actualizamos|actualizado|mudé|mudamos
   |migré|migrons|passé|passés|passées|passée|changé|remplacé|désormais|maintenant|plus|déménagé|emménagé`,
  '现在 改 换 迁移 切换 升级 不再 搬 变成 变为 更新为 今は 現在 移行 切り替 変更 変わ 変え 引っ越 乗り換 もう になりました になった アップグレード やめ',
);

/** Something is in use. */
export const USE = phrases(
  `use|uses|using|run|runs|running|moved|migrated|switched|changed|upgraded|downgraded|updated|converted|replaced|adopted|adopt|settled|chose|picked|went with|went
   |rely|relies|prefer|prefers|work with|work in|works with|working with|written in|write in|code in|coding in|develop in|develop with|built (?:on|with|in)|powered by|hosted (?:on|at|by)|hosted|host|hosts|deploy(?:ed|s)? (?:to|on|with)
   |is|are|['’]re on|we['’]re|i['’]m on|am on|stack|dropped|ditched|stopped|stays on|stay on|test with|tests with
   |usa|usan|uso|usamos|usar|utilizamos|utiliza|utilizo|utilizan|corre|corren|migramos|migré|migrado|cambiamos|cambié|cambiado|pasamos|pasé|pasado|actualizamos|actualizado|reemplazamos|reemplazado|funciona|es|está|adoptamos|prefiero|prefiere
   |utilisons|utilise|utilisent|utilisé|tourne|tournent|migré|migrons|passé|passés|passée|passées|changé|remplacé|fonctionne|est|adopté|employons|préfère|préférons`,
  '使用 采用 用 迁移 换 切换 改 升级 是 跑在 部署 弃用 偏好 喜欢 使 利用 採用 移行 切り替 変更 変え 変わ 乗り換 アップグレード です 動い 動かし デプロイ やめ 好',
);

/** Words of such statements that are in all of them, so that they tell no subjects apart. */
export const FILLER = phrases(
  `i|i['’]m|i['’]ve|i['’]d|we|we['’]re|we['’]ve|the|a|an|user|user['’]s|users|team|project|stack|codebase|repo|repository|app|application|company|everything|whole|entire|main|over|to|from|with|by|on|for|it|it['’]s|thing|things
   |use|uses|used|using|run|runs|running|moved|move|migrated|switched|changed|upgraded|downgraded|updated|converted|replaced|adopted|settled|chose|picked|went|rely|relies|work with|works with|working with|work in|works in|written|write|writes|code|coding|develop|develops|built|powered|hosted|deployed|stays|stay
   |prefer|prefers|preference|preferred|like|likes|love|loves|enjoy|enjoys|want|wants|rather|than|better|instead|favor|favour|opt|go|longer|much|really|still|stopped|stop|dropped|ditched|new|correction|become|became|happen|happens|called|named|slipped|postponed|rescheduled|pushed|shifted|favorite|favourite|takes|take|place|start|starts|begin|begins
   |usa|usan|uso|usar|usamos|utilizamos|utiliza|utilizo|utilizan|corre|migramos|migrado|cambiamos|cambié|cambió|cambiado|pasamos|pasé|pasó|pasado|movió|aplazó|actualizamos|reemplazamos|funciona|favorito|favorita|proyecto|equipo|nuestra|nuestros|hemos|ha|han|he|todo|está|prefiero|prefiere|prefieres|gusta|gustan|encanta|usuario|usuaria|lugar|vez
   |utilisons|utilise|utilisent|utilisé|tourne|migré|migrons|passé|passés|passée|passées|déplacé|déplacée|déplacés|reporté|reportée|changé|remplacé|fonctionne|projet|équipe|sommes|avons|notre|emploie|préfère|préfères|préférons|préférence|aime|aimons|adore|utilisateur|utilisatrice|plutôt|lieu|plus|n|d|l|j`,
  `数据库 データベース 环境 環境 我们的 我们 我的 我 咱们 用户 团队 项目 技术栈 迁移到了 迁移到 迁移 切换到了 切换到 切换 换成了 换成 换到了 换到 换 改成了 改成 改用了 改用 改为 升级到了 升级到 升级 使用 采用 部署在 跑在 更喜欢 喜欢 偏好 偏向 习惯 而不是 不再 了 到 成 用 从 把 是 为 的 在 和 都 给 来 更 爱
   私たち 私 僕 俺 弊社 当社 チーム プロジェクト 移行 切り替え 変更 変え 変わり 変わ 乗り換え 使用 利用 採用 使って 使い 使う 好き 好み ほう 方 希望`,
);

/** Splits a text into statements; a full stop in a number ends none. */
export const STATEMENT_END =
  /(?<=[.!?])(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St|Sr|Sra|Mme|vs|etc)\.)\s+|[。！？；;\n]+|,?\s+(?:but|however|pero|mais|sin embargo)\s+|，(?:但是|但|不过|而|后来)?|(?:ですが|ましたが|だったが|けれど|けど|たが|が)、|,\s+(?=(?:and |y |et )?(?:now|ahora|maintenant|désormais)\b)|\s+(?:and|y|et)\s+(?=(?:now|ahora|maintenant|désormais)\b)/iu;

/** Labels that the original put in front of what it stored. */
export const LABEL =
  /^\s*(?:user preference|project context|workflow guidance|persistent fact|preference|fact|note)\s*[:：]\s*/i;
