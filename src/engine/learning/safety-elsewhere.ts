import type { Rule } from './safety-rule.ts';

/** Words of Spanish, French and German begin and end at letters, not at ASCII ones only. */
const START = '(?<!\\p{L})';
const within = (chars: number) => `[^.。\\n]{0,${chars}}`;
const either = (one: string, other: string, chars: number) =>
  `(?:${one})${within(chars)}(?:${other})|(?:${other})${within(chars)}(?:${one})`;
const rule = (name: string, message: string, ...patterns: string[]): Rule => ({
  rule: name,
  message,
  pattern: new RegExp(patterns.join('|'), 'iu'),
});

const SECRETS = {
  zh: '密码|口令|密钥|私钥|令牌|凭证|凭据|对话|聊天记录|隐私|环境变量|API ?key',
  ja: 'パスワード|秘密鍵|API ?キー|トークン|認証情報|会話|個人情報|環境変数',
  es: `${START}(?:contraseñas?|claves? (?:de (?:la )?api|privadas?|secretas?|de acceso)|tokens?|credenciales|secretos|conversaci(?:ón|ones)|datos (?:personales|del usuario)|variables de entorno)`,
  fr: `${START}(?:mots? de passe|clés? (?:d'api|api|privées?|secrètes?|ssh|d'accès)|jetons?|identifiants|secrets|conversations?|données (?:personnelles|de l'utilisateur)|variables d'environnement)`,
  de: `${START}(?:passw[oö]rt\\w*|(?:api-|privaten? )schlüssel|zugangsdaten|geheimnisse|unterhaltung|gesprächsverlauf|umgebungsvariablen)`,
};
const SENDING = {
  zh: '发送|发给|发到|发往|上传|转发|泄露|传给|传到|寄给',
  ja: '送信|送る|送って|送り|転送|アップロード|投稿|貼り付け',
  es: `${START}(?:env[ií](?:a|ar|e|es|en|as)|manda\\p{L}*|sub(?:e|ir|es)|reenv\\p{L}+|publi(?:ca|que)\\p{L}*|compart\\p{L}+|filtra\\p{L}*)(?!\\p{L})`,
  fr: `${START}(?:envo[iy]\\p{L}*|transme\\p{L}+|téléverse\\p{L}*|publi\\p{L}+|partage\\p{L}*|transf[eéè]r\\p{L}+|poste\\p{L}*)`,
  de: `${START}(?:send\\p{L}*|schick\\p{L}*|übermitt\\p{L}+|hochladen|lade|teile\\p{L}*|veröffentlich\\p{L}*)`,
};

/** The rules about what is said and not typed, in the other languages that people work in. */
export const RULES_ELSEWHERE: readonly Rule[] = [
  rule(
    'exfiltration',
    'Sends data of the user somewhere.',
    ...(['zh', 'ja', 'es', 'fr', 'de'] as const).map((language) =>
      either(SENDING[language], SECRETS[language], 60),
    ),
  ),
  rule(
    'checks-off',
    'Switches checks or safety off, or forces its way.',
    `(?:测试|检查|校验|验证|审查|警告|防火墙|权限|安全)${within(6)}(?:跳过|禁用|关闭|关掉|忽略|绕过)`,
    `(?:无需|不用|不需要|不必|不经)${within(6)}(?:确认|批准|同意|许可)`,
    `(?:テスト|検証|確認|チェック|警告|レビュー|セキュリティ|ファイアウォール|権限)${within(10)}(?:スキップ|無視|無効|省略|飛ばし|飛ばす|回避|オフ)`,
    '(?:確認|許可|承認)(?:なしで|せずに|を得ずに|を取らずに)',
    `${START}(?:omit\\p{L}+|s[aá]lta\\p{L}*|desactiv\\p{L}+|deshabilit\\p{L}+|ignor\\p{L}+|elud\\p{L}+)${within(30)}${START}(?:pruebas?|tests?|verificaci|validaci|comprobaci|seguridad|cortafuegos|revisi|advertencias?|permisos?|confirmaci)`,
    `${START}sin ${within(25)}(?:confirmaci|permiso|aprobaci)`,
    `${START}(?:saut(?:e|ez|er)|ignor\\p{L}+|désactiv\\p{L}+|contourn\\p{L}+)${within(30)}${START}(?:tests?|vérifications?|validations?|contrôles?|sécurité|pare-feu|revues?|avertissements?|permissions?|confirmations?)`,
    `${START}sans (?:demander|attendre|l'accord|confirmation|autorisation)`,
    `${START}(?:überspring\\p{L}*|deaktivier\\p{L}*|ignorier\\p{L}*|umgeh\\p{L}*)${within(30)}${START}(?:tests?|prüfung|sicherheit|warnung|bestätigung|firewall|berechtigung)`,
    `${START}ohne (?:zu fragen|nachzufragen|rückfrage|bestätigung|erlaubnis)`,
  ),
  rule(
    'prompt-injection',
    'Speaks to the model as an attack would: overrides instructions, hides things from the user.',
    `(?:指令|指示|提示词|规则)${within(8)}(?:忽略|无视|忘记|忘掉)`,
    `(?:不要|别|勿|不得)(?:告诉|告知|通知|透露给|让)${within(6)}用户|瞒着用户`,
    `(?:指示|命令|ルール|規則)${within(8)}(?:無視|忘れ)`,
    `(?:ユーザー|利用者)に(?:は|も)?${within(12)}(?:言わな|言うな|伝えな|伝えずに|知らせな|教えな|見せな|内緒|隠[しすさ])`,
    `${START}(?:ignor|olvid)\\p{L}+${within(30)}(?:instrucciones|reglas|indicaciones)`,
    `${START}no ${within(12)}(?:digas|cuentes|informes|menciones|muestres|reveles)${within(30)}(?:usuario|nadie)|sin que (?:el usuario|nadie)`,
    `${START}(?:ignor|oubli)\\p{L}+${within(30)}(?:instructions|règles|consignes)`,
    `${START}n(?:e |')${within(12)}(?:dis|dites|parle|mentionne|montre|révèle|informe)\\p{L}*${within(30)}(?:utilisateur|personne)|à l'insu de`,
    `${START}(?:ignorier|vergiss)\\p{L}*${within(30)}(?:anweisungen|regeln|vorgaben)`,
    `${START}(?:sag|erzähl|zeig|erwähn|verrat)\\p{L}*${within(30)}(?:nutzer|anwender)${within(20)}nicht`,
  ),
];
