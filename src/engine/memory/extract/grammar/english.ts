import { form, type Grammar, oneOf } from './grammar.ts';

const LEAD =
  '^(?:(?:please|pls|ok(?:ay)?|now|then|so|and|also|but|hey|hi|hello|thanks|great|perfect|cool|just|first|next|finally|instead|well|oh|yes|no|right),? )*';
const DEIXIS =
  '(?! (?:it|this|that|these|those|your|you|them)\\b(?! (?:project|repo|repository|codebase|company|team)))';
const ADVERBS =
  '(?: (?:really|also|generally|usually|typically|always|much|strongly|absolutely|still|personally|definitely|just|do|actually|honestly|very much|tend to|currently|now|mostly|mainly|only|already|often|normally|both|all|recently|finally|never|no longer|been|not))*';
const MONTHS =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
const DAYS = '(?:mon|tues|wednes|thurs|fri|satur|sun)day';
const NUMBER = '(?:\\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|several|a couple of)';
const THINGS =
  '(?:project|repo|repository|codebase|app|application|service|api|backend|frontend|server|database|db|staging|production|prod|environment|pipeline|ci|cluster|website|site|stack|schema|branch|package|library|monorepo|tests?|domain|company|product|startup|deployments?|deploys?|releases?|budget|deadline|port|endpoint|queue|cache|bucket|cron|worker|wiki|docs|runbook|config|client|customer|contract|office|thesis|paper|course|team|vendor|supplier|printer|router|nas|backups?|sprint|roadmap|linter|formatter|build|style guide|design system|dashboard|shop|warehouse|bakery|kitchen|lab|clinic|classroom|garden)';
const TOOL_VERBS =
  '(?:uses?|used|using|runs?|ran|running|deploy(?:s|ed|ing)?|migrat(?:e|es|ed|ing)|mov(?:e|es|ed|ing)|switch(?:es|ed|ing)?|upgrad(?:e|es|ed|ing)|downgraded|adopt(?:ed|ing)?|host(?:s|ed|ing)?|ship(?:s|ped|ping)?|target(?:s|ing)?|support(?:s|ed)?|stor(?:e|es|ed|ing)|rel(?:y|ies) on|depends? on|chose|went with|going with|standardi[sz]ed|replac(?:e|ed|ing)|dropped|built (?:on|with|in)|written in|based (?:on|in)|follow(?:s|ed)?|requires?|pinned|releas(?:e|es|ed)|test(?:s|ed)? (?:with|on|against)|authenticat(?:e|es|ed)|logs? to|expos(?:e|es|ed)|listens?|consists? of|decided|agreed|settled|opted|picked)';

export const ENGLISH: Grammar = {
  question: oneOf(
    '\\?\\s*["\')\\]]*$',
    `${LEAD}(?:who|whom|what|what's|where|where's|why|how|how's|which|whose|can|could|would|will|shall|should|may(?! \\d)|might|does|did|is|isn't|are|aren't|am|was|were|has|had|won't|any (?:idea|chance|tips|suggestions|advice)|i wonder|i'm wondering|wondering)\\b`,
    `${LEAD}(?:do|have|don't|haven't|didn't|doesn't) (?:you|we|i|they|he|she|it|any)\\b`,
    `${LEAD}when (?:is|are|was|were|did|do|does|will|can|should)\\b`,
  ),
  supposed: oneOf(
    `${LEAD}(?:if|suppose|supposing|imagine|assume|assuming|let's (?:say|assume|pretend|imagine|suppose)|what if|hypothetically|in theory|pretend|say,|maybe|perhaps|unless|what about|how about)\\b`,
    '\\bhypothetical(?:ly)?\\b',
    '\\bif (?:i|we) (?:were|had|lived|used|could|would|ever)\\b',
    '\\b(?:i|we) (?:might|may|could)\\b',
    "\\b(?:i|we)'?(?:d| would) (?:be|have been|have|use|go)\\b",
    '\\b(?:not sure|no idea|i guess|wondering)\\b',
    '\\bfor the sake of argument\\b',
    '\\b(?:for example|e\\.g\\.|for instance)\\b',
  ),
  order: oneOf(
    `${LEAD}(?:add|adjust|analy[sz]e|answer|apply|ask|book|brainstorm|bring|build|calculate|change|check|clean|come|commit|compare|compose|compute|continue|convert|copy|correct|create|debug|define|delete|deploy|describe|design|do|draft|draw|edit|email|ensure|estimate|evaluate|expand|explain|export|extract|fetch|figure|fill|find|finish|fix|follow|format|generate|get|give|go|help|identify|implement|import|improve|include|insert|install|keep|let|let's|list|look|make|merge|migrate|move|open|optimi[sz]e|organi[sz]e|outline|output|paste|pick|plan|play|polish|prepare|print|proofread|propose|provide|pull|push|put|read|recommend|refactor|remind|remove|rename|repeat|rephrase|replace|reply|research|respond|restart|return|review|revert|rewrite|run|save|schedule|search|select|send|set|shorten|show|simplify|skip|solve|sort|split|start|stop|suggest|sum|summari[sz]e|switch|take|talk|tell|test|think|translate|try|turn|undo|update|upgrade|use|validate|verify|wait|walk|wrap|write|don't|do not|shouldn't)\\b(?! (?:is|are|was|were|club|suite|team|environment)\\b)`,
    `${LEAD}(?:i need|i want|i'd like|i would like|we need) (?:you|to|help|a|an|the|some|this|it)\\b(?! (?:learn|become|lose|retire|visit|buy|live)\\b)`,
  ),
  standing: oneOf(
    '\\b(?:always|never(?! mind)|from now on|going forward|in (?:the )?future|from here on|every time|each time|whenever|by default|as a (?:general )?rule|at all times|under no circumstances)\\b',
    '\\b(?:in|for|on) (?:all|every|each) (?:of )?(?:your |my |our |future |new )*(?:answers?|repl(?:y|ies)|responses?|commits?|files?|messages?|functions?|tests?|releases?|pull requests?|prs?)\\b',
    '^before (?:every|each|any)\\b',
    '\\bbefore (?:every|each|any) (?:commit|push|release|deploy|merge)',
  ),
  habit: oneOf(
    "\\bi(?:'ve|'ll| have| will| would)?(?: (?:almost|nearly))? (?:always|never|usually)\\b",
    '\\bi\\b.*\\b(?:every time|whenever)\\b',
  ),
  explicit: oneOf(
    `${LEAD}(?:remember(?! when| how| last|ed|ing)|keep in mind|bear in mind|note that|take note|make a note|don't forget|do not forget|for (?:future )?reference|for the record|you should know|important:|note:|reminder:)`,
  ),
  aside: oneOf(
    '^(?:fyi|just so you know|heads[- ]up|for context|some context|context:|btw|by the way|background:)',
  ),
  passing: oneOf(
    '\\b(?:this|that|these|those) (?:function|method|class|code|file|snippet|text|paragraph|sentence|email|mail|letter|answer|response|reply|line|error|message|one|version|example|script|query|image|picture|bug|problem|issue|approach|output|result|part|section|draft|idea|case|way|question|poem|joke|story|list|table|suggestion|solution|explanation|summary|title|wording|thing|stuff|chat|conversation|task)s?\\b',
    '\\b(?:this time|just this once|for this)\\b',
    '\\byour (?:answer|response|reply|code|version|suggestion|explanation|example|message|draft|idea|point|help|advice)s?\\b',
    '\\bthe (?:above|following|previous|last|first|second|third) (?:answer|response|reply|one|version|example|option|message|draft|idea|point|paragraph|sentence|part|suggestion)s?\\b',
    '\\byou (?:said|wrote|mentioned|suggested|told|gave|always|never|just|are|were|forgot|missed|keep)\\b',
    '\\b(?:it|this|that|he|she|they|the (?:app|build|test|page|code|server|script|command|site|api|response|output)s?)(?: just)? (?:always|never) (?:work|fail|crash|return|throw|load|finish|start|respond|hang|time|show|give|end|get)',
    '^(?:never (?:mind|work)|always (?:the )?same)',
  ),
  trouble: oneOf(
    "\\b(?:broken|breaks?|failing|fails?|failed|crash(?:es|ed|ing)?|slow|not working|doesn't work|isn't working|won't (?:start|work|load)|stuck|wrong|weird|errors?|exception|hang(?:s|ing)?|throwing|undefined|null|missing|messed|confus\\w+|flaky|timing out|out of memory|buggy|acting up)\\b",
    "\\bi(?:'m| am| feel)(?: \\w+)? (?:tired|bored|busy|hungry|fine|ok|okay|good|happy|sad|stressed|excited|confused|stuck|sorry|sure|ready|back|curious|glad|here)\\b",
  ),
  dated: oneOf(
    `\\b(?:tomorrow|yesterday|tonight|today|this (?:morning|afternoon|evening)|(?:next|last|this|coming) (?:week|weekend|month|year|quarter|spring|summer|fall|autumn|winter|semester|sprint|${DAYS}|${MONTHS})|${DAYS}|(?:in|since|until|by|before|after|from|on|of|late|early|mid) ${MONTHS}|${MONTHS}\\.? \\d{1,2}(?:st|nd|rd|th)?|\\d{1,2}(?:st|nd|rd|th)? (?:of )?${MONTHS}|on the \\d{1,2}(?:st|nd|rd|th)|\\d{4}-\\d{2}-\\d{2}|\\d{1,2}[/.]\\d{1,2}[/.]\\d{2,4}|(?:in|since|by|until|before|after|back in) (?:19|20)\\d{2}|at \\d{1,2}(?::\\d{2})?\\s*(?:am|pm|a\\.m|p\\.m)|at \\d{1,2}:\\d{2}|${NUMBER} (?:days?|weeks?|months?|years?) (?:ago|from now)|in ${NUMBER} (?:days?|weeks?|months?|years?))\\b`,
  ),
  own: oneOf(
    "\\b(?:i|i'm|i've|we|we're|we've|my|our|me|us)\\b",
    '^the (?:[\\p{L}\\d]+ ){0,2}(?:launch|release|meeting|deadline|demo|exam|flight|appointment|review|migration|conference|trip|wedding|interview|move|call|sprint|freeze|cutover|party|contract|lease|rent|project|sale|audit|workshop|contest|race|marathon|concert)\\b',
  ),
  forms: [
    form(
      'preference',
      0.8,
      0.85,
      `\\bi(?:'ve| have)?${ADVERBS} (?:prefer|like|love|enjoy|hate|dislike|detest|loathe|favou?r|adore|avoid|can't stand|cannot stand|can't bear|despise)\\b(?! (?:it|this|that|these|those|your|you|how|what|when|the (?:idea|way you|answer|result|first|second|last|above)|to (?:know|ask|see|hear|have you))\\b)`,
      `\\bi (?:do not|don't|never|can't|cannot|no longer|won't|refuse to)${ADVERBS} (?:like|eat|drink|enjoy|wear|watch|smoke|drive|fly|use|work|travel)\\b${DEIXIS}`,
      '\\bi (?:usually|normally|typically|generally) \\p{L}',
      '\\bmy (?:own |personal |all-time |least )*(?:preferred|favou?rite|preference|go-to|usual)\\b',
      "\\bi(?:'m| am)(?: (?:not|really|very|a|such a|more of a|big|huge|quite))* (?:fan of|used to|into|fond of|keen on|partial to|(?:morning|night|cat|dog|people|tea|coffee) person)\\b",
      "\\bi(?:'d| would)(?: (?:always|much))? rather\\b(?! (?:you|we|it|this|that)\\b)",
    ),
    form('procedural_observation', 0.8, 0.75, `${LEAD}(?:avoid|prefer) \\p{L}`),
    form(
      'project_state',
      0.78,
      0.8,
      `\\b(?:we|our (?:[\\p{L}\\d-]+ ){0,2}${THINGS}|the (?:[\\p{L}\\d-]+ ){0,2}${THINGS}|this (?:project|repo|repository|codebase|app|service|monorepo|package|library|company|team))(?:'re|'ve| are| have| is| has| do| don't| doesn't)?${ADVERBS} ${TOOL_VERBS}\\b${DEIXIS}`,
      "\\bwe(?:'re| are)(?: (?:currently|now|still))* on (?!it\\b|the\\b|track|board|time|holiday|vacation|our|a\\b|schedule|top|to\\b|call)\\p{L}",
      '\\bthe (?:final )?(?:decision|agreement) (?:is|was)\\b',
    ),
    form(
      'semantic',
      0.75,
      0.85,
      "\\bmy (?:full |first |last |middle |nick)?name(?:'s| is)\\b",
      '\\bmy (?:birthday|anniversary)\\b',
      "\\bi (?:just |recently |have |'ve )*moved (?:to|from|back)\\b",
      '\\b(?:call|address) me (?!back|when|if|in|at|on|later|tomorrow|a\\b|the\\b|an\\b|now|maybe|crazy|again)\\p{L}',
    ),
  ],
  weakForms: [
    form(
      'episodic',
      0.6,
      0.7,
      "\\bi(?:'ve| have)? (?:just |recently |finally )(?:got|gotten|started|quit|left|joined|passed|failed|bought|sold|adopted|finished|graduated|broke|lost|won|signed|booked|hired|married|retired|became|completed|published|launched)\\b(?! (?:an? )?(?:error|exception|message|warning|this|that|it|response|notification))",
      '\\bi (?:got (?:married|divorced|engaged|promoted|fired|laid off|an? (?:new )?(?:job|dog|cat|puppy|kitten|car|offer|promotion|raise))|was diagnosed|gave birth|passed my|failed my|quit my|lost my|broke my|bought an?|adopted an?|graduated)\\b',
      "\\b(?:i|we)(?:'m|'re| am| are)? (?:planning|plan|planned|intend|intending|aim|aiming|saving|saving up|training) (?:to|on|for)\\b",
      '\\b(?:i|we) (?:want|hope) to (?:\\p{L}+ )?(?:learn|become|move|visit|lose|buy|retire|start|launch|open|publish|run a|study|travel)\\b',
      '\\b(?:my|our) (?:[\\p{L}-]+ ){0,2}(?:goal|plan|target|objective|resolution)s?(?: [\\p{L} ]{1,40})? (?:is|are)\\b',
    ),
    form(
      'procedural_observation',
      0.78,
      0.75,
      '^when(?:ever)? (?:you|we|i)\\b[^,]*,',
      '^(?:to|for) (?:deploy|releas|build|test|run|start|install|publish|roll|migrat|restor|debug|log|connect|set|updat|ship|tag|back|lint|format|reproduc)\\w*\\b[^,]{0,60},? (?:you (?:have to |need to |must |should )?)?(?:run|use|execute|call|type|do|go|open|click|first|set|make|ssh|push|merge|create|ask|edit|we)\\b',
      '\\b(?:the|our|my) (?:[\\p{L}-]+ ){0,2}(?:workflow|process|procedure|convention|rule|policy|routine|practice|trick)s?(?: [\\p{L} ]{1,40})? (?:is|are)\\b',
      '\\b(?:we|our team) (?:usually|normally|typically)\\b',
      "^(?:all |every |each |the |our )?[\\p{L}-]+ (?:[\\p{L}-]+ ){0,3}(?:must|mustn't|must not|may not|have to|has to)\\b",
    ),
    form(
      'project_state',
      0.7,
      0.68,
      `\\b(?:the|our|this) (?:[\\p{L}\\d.-]+ ){0,2}${THINGS}\\b(?: [^?]{0,80})? (?:is|are|uses?|runs?|lives?|has|have|needs?|requires?|was|were|deploys?|ships?|happens?|goes|starts?|ends?|closes?|opens?|expects?|reads?|writes?|belongs?|sits?|points?|costs?)\\b`,
      '^in (?:our|the|this) (?:repo|repository|project|codebase|team|company|app|office)[^,]{0,20}, (?!can|could|please|write|add|make)\\p{L}',
      '^(?:deploys?|deployments?|releases?|backups?|staging|production|prod|tests?|builds?|migrations?|ci|logs|secrets)(?: \\p{L}+)? (?:run|runs|is|are|go|goes|live|lives|happen|happens|use|uses|need|needs|start|starts)\\b',
    ),
    form(
      'semantic',
      0.7,
      0.75,
      "\\bmy (?!(?:question|problem|issue|point|guess|mistake|bad|understanding|concern|code|error|answer|opinion|test|query|script|function|bug|apolog\\w+|request|idea|intent\\w*|turn|internet|wifi|god)\\b)[\\p{L}'’ -]{1,40}?(?: (?:is|are|was|were|has|have|had|lives?|lived|works?|worked|studies|runs?|uses?|needs?|starts?|ends?|goes|likes?|loves?|hates?|speaks?|turns?|teaches|wants|sits|plays|owns|drives|visits|expects|manages|leads|attends|takes|suffers|eats|drinks|moved|died|retired|graduated|prefers)|'s)\\b",
      '\\bour (?:[\\p{L}-]+ ){1,3}(?:is|are|lives?|works?|has|have)\\b',
      "\\bi(?:'m| am)(?: (?:also|currently|now|still|originally|actually|not|only|nearly|almost))* (?:an? (?!bit|little|lot|fan|big fan|huge fan|few)\\p{L}|the \\p{L}+ (?:of|at|for|in)|from|based|living|married|divorced|single|engaged|widowed|pregnant|allergic|intolerant|diabetic|vegetarian|vegan|pescatarian|lactose|gluten|celiac|coeliac|colou?r-?blind|left-handed|dyslexic|deaf|blind|autistic|retired|unemployed|self-employed|freelance|bilingual|fluent|\\d{1,3}(?: years| yrs|\\b)|taking \\p{L}+|on (?:a )?(?:diet|medication|parental|sabbatical|mac|macos|windows|linux|ubuntu|arch|debian|fedora|android|ios|an? iphone)|studying|learning|working (?:as|at|for|in|remotely|on)|writing (?:a|my)|building (?:a|my)|raising|responsible for|in charge|born)",
      `\\bi${ADVERBS} (?:live|lived|work|worked|study|studied|grew up|was born|teach|taught|own|drive|speak|graduated|play|run an?|commute|rent|weigh|earn|manage|lead|attend|take|use|cycle|swim|coach|volunteer|collect|suffer from|majored|smoke|sleep|wake up|practi[cs]e|maintain|develop|code in|program in|write in|keep|bake|cook)\\b${DEIXIS}`,
      "\\bi(?:'ve| have)(?: got)? (?:(?:two|three|four|five|\\d+|an?|one|no) (?:[\\p{L}-]+ ){0,2}(?:kids?|child(?:ren)?|sons?|daughters?|dogs?|cats?|brothers?|sisters?|pets?|cars?|allerg\\w+|job|degree|house|apartment|wife|husband|phd|masters?|macbook|thinkpad|laptop|raspberry|nas|server|subscription|license|garden|twins?|bikes?|horse|budget)\\b|asthma|diabetes|adhd|celiac|coeliac|allerg\\w+|been (?:working|living|using|learning|playing|married|an? ))",
      "\\bi (?:don't|do not) have (?:any |a )?(?:kids?|children|pets?|car|siblings|license|account|garage|dishwasher|oven)",
    ),
  ],
  material: oneOf(
    `${LEAD}(?:(?:can|could|would) you )?(?:please )?(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|correct|fix (?:the |my )?(?:grammar|spelling|typos)|polish|improve|edit|shorten|simplify|reply to|respond to|answer to|analy[sz]e|explain|review|check|convert|classify|grade|what does)\\b`,
  ),
  play: oneOf(
    '\\brole-?play',
    "\\bpretend (?:to be|you|i'm|i am|we)\\b",
    "\\byou(?:'re| are) now an?\\b",
    "\\blet's play (?:a |the )?(?:game|role|pretend|character)",
    '\\bact as (?:an?|if|my|the)\\b',
    '\\bstay in character\\b',
  ),
  tale: oneOf(
    `${LEAD}(?:(?:can|could) you )?(?:write|tell|compose|invent|continue|make up) (?:me )?(?:(?:an?|the|another) )?(?:[\\p{L}-]+ ){0,2}(?:story|poem|song|scene|dialogue|novel|fairy tale|limerick|haiku|joke|screenplay|monologue)\\b`,
    '\\bin (?:this|the|my) (?:story|game|scenario|novel)\\b',
  ),
  playEnds: oneOf(
    '\\b(?:stop|end|exit|quit|leave|enough|finish)\\b.{0,20}\\b(?:role-?play|game|character|pretending|playing)',
    '\\bout of character\\b',
    '\\bback to (?:reality|normal|work)\\b',
  ),
  told: oneOf(
    `\\b(?:the|this|your) (?:[\\p{L}\\d-]+ ){0,2}(?:project|repo|repository|codebase|app|application|service|backend|frontend|database|stack|pipeline|api|server|site|monorepo) (?:uses|runs (?:on|in|with)|is (?:written in|built (?:on|with)|based on|hosted|deployed)|depends on|targets|lives (?:in|at)|requires|stores)\\b`,
    "^(?:done[,.:]? |ok[,.]? )?i(?:'ve| have) (?:now )?(?:set|configured|deployed|renamed|moved|switched|enabled|disabled|scheduled) [^?]{3,}\\b(?:to|at|on|in|for)\\b",
  ),
  toldOfUser: oneOf(
    "\\byou (?:prefer|like|love|use|live|work|have|want|avoid|don't|hate|need)\\b",
    "\\byou(?:'re| are) (?:an?|allergic|vegetarian|vegan|based|from)\\b",
    '\\byour [\\p{L} ]{1,30} (?:is|are)\\b',
  ),
  confirms:
    /^(?:yes|yep|yeah|yup|right|correct|exactly|indeed|that's (?:right|correct|it)|true|precisely|absolutely)\b[^?]{0,40}$/iu,
};
