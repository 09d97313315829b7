import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Questions about long conversations, with the turns that answer them; categories as the authors number them. */
export const LOCOMO_CATEGORIES: Readonly<Record<number, string>> = {
  1: 'several turns',
  2: 'times',
  3: 'world knowledge',
  4: 'one turn',
};

const turn = z.object({
  dia_id: z.string(),
  speaker: z.string(),
  text: z.string().default(''),
  blip_caption: z.string().optional(),
});
const file = z.array(
  z.object({
    conversation: z.looseObject({ speaker_a: z.string(), speaker_b: z.string() }),
    qa: z.array(
      z.object({ question: z.string(), category: z.number(), evidence: z.array(z.string()).default([]) }),
    ),
  }),
);

interface LocomoTurn {
  session: string;
  speaker: string;
  role: 'user' | 'assistant';
  text: string;
  saidAt: string;
}

export interface LocomoConversation {
  turns: LocomoTurn[];
  /** `evidence`: places in `turns`. */
  questions: { text: string; category: number; evidence: number[] }[];
}

/** Reads a file in the format of LoCoMo. Questions without evidence that can be found, and trick questions, are left out. */
export function readLocomo(path: string): LocomoConversation[] {
  return file.parse(JSON.parse(readFileSync(path, 'utf8'))).map(({ conversation, qa }, at) => {
    const turns: LocomoTurn[] = [];
    const places = new Map<string, number>();
    const sessions = Object.keys(conversation)
      .filter((key) => /^session_\d+$/.test(key) && Array.isArray(conversation[key]))
      .sort((a, b) => Number(a.slice(8)) - Number(b.slice(8)));
    for (const session of sessions) {
      const saidAt = timeOf(String(conversation[`${session}_date_time`]));
      for (const said of z.array(turn).parse(conversation[session])) {
        places.set(said.dia_id, turns.length);
        // What the other one sees of a picture that is sent.
        const picture = said.blip_caption === undefined ? '' : ` [shares ${said.blip_caption}]`;
        turns.push({
          session: `conversation ${at} ${session}`,
          speaker: said.speaker,
          role: said.speaker === conversation.speaker_a ? 'user' : 'assistant',
          text: `${said.text}${picture}`.trim(),
          saidAt,
        });
      }
    }
    const questions = qa.flatMap(({ question, category, evidence }) => {
      const found = evidence.flatMap((text) =>
        // Some are misspelt in the release: `D8:6; D9:17`, `D:11:26`, `D30:05`.
        [...text.matchAll(/D:?(\d+):0*(\d+)/g)].flatMap((id) => places.get(`D${id[1]}:${id[2]}`) ?? []),
      );
      const isJudged = category in LOCOMO_CATEGORIES && found.length > 0;
      return isJudged ? [{ text: question, category, evidence: [...new Set(found)] }] : [];
    });
    return { turns, questions };
  });
}

/** `1:56 pm on 8 May, 2023` as ISO, with the day alone. */
function timeOf(text: string): string {
  const day = /\bon (\d+ \w+,? \d+)/.exec(text)?.[1] ?? '';
  return new Date(`${day.replace(',', '')} 12:00 UTC`).toISOString();
}
