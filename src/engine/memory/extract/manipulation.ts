/** Characters that nobody sees: they can carry words to a model that no person read. */
const HIDDEN = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;
/** Words that are meant for the model which will read the memory, not for the one who remembers. */
const ORDERS =
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|any|your)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules?|messages?|guidelines?)\b|\b(?:system|developer) (?:prompt|message)\b|<\/?(?:system|assistant|user|tool|instructions?|metaclaw[\w-]*)\b|\[\/?(?:INST|SYSTEM)\]|<\|[a-z_]+\|>|\bcurl\b[^\n]{0,80}\|\s*(?:ba)?sh\b|忽略[^。\n]{0,12}(?:之前|以上|所有)[^。\n]{0,8}(?:指令|指示|提示)|(?:以前|これまで)の(?:指示|命令)を無視|ignora\b[^.\n]{0,30}\binstrucciones\b|ignore[rz]?\b[^.\n]{0,30}\binstructions?\b/iu;

/** True for text that tries to steer the model which will read it, openly or unseen. */
export function isManipulative(text: string): boolean {
  return HIDDEN.test(text) || ORDERS.test(text);
}
