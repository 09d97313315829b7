/** Something to look for in a normalised text of a skill. */
export interface Rule {
  rule: string;
  message: string;
  pattern: RegExp;
}
