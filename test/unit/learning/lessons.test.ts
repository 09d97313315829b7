import { describe, expect, it } from 'vitest';
import { pickLessons } from '../../../src/engine/learning/lessons.ts';
import { makeTurn } from '../../support/turns.ts';

const session = (...texts: string[]) =>
  texts.map((userText, at) => makeTurn({ seq: at + 1, userText, replyText: `answer ${at + 1}` }));
const picked = (...texts: string[]) =>
  pickLessons(session(...texts), 0).map(({ seq, signal }) => `${seq} ${signal}`);

describe('pickLessons', () => {
  it('takes what the user taught, not the last turns (the original took the last six)', () => {
    expect(
      picked(
        'Write a function that parses dates from our export files',
        'No, we always use Temporal, never Date. Remember that.',
        'ok thanks',
        'Now add the same parser to the invoice and report modules please',
        'hi',
      ),
    ).toEqual(['1 substantive', '2 instruction', '4 substantive']);
  });

  it('a reaction carries the answer that it reacts to', () => {
    const [, second] = pickLessons(
      session('Write the release notes for version two', "That's not what I asked for"),
      0,
    );
    expect(second).toMatchObject({ signal: 'correction', answerBefore: 'answer 1', answer: 'answer 2' });
  });

  it.each([
    ['不对，应该先写测试', 'correction'],
    ['以后每次都先给结论', 'instruction'],
    ['違います、敬語で書いてください', 'correction'],
    ['Te dije que en español', 'correction'],
    ['Désormais réponds en français', 'instruction'],
    ["This isn't what I wanted at all", 'correction'],
    ['You were supposed to keep the header', 'correction'],
    ['我要的是表格，不是列表', 'correction'],
    ['你搞错文件了', 'correction'],
    ['頼んだのは要約です', 'correction'],
    ['敬語でと言ったのに', 'correction'],
    ['No, así no, en dos columnas', 'correction'],
    ['Te pedí un resumen corto', 'correction'],
    ["C'est pas ce que je veux", 'correction'],
    ["Je t'avais demandé un tableau", 'correction'],
    ["Tu n'as pas répondu à la question", 'correction'],
    ['A partir de ahora responde en español', 'instruction'],
    ['À partir de maintenant, commence par la conclusion', 'instruction'],
    ['これからは箇条書きで答えて', 'instruction'],
    ['回答一律用中文', 'instruction'],
    ['I get an exception in line 4', 'error'],
    ['还是报错', 'error'],
    ['Perfect, exactly like that', 'praise'],
  ])('reads %s as %s', (text, signal) => expect(picked(text)).toEqual([`1 ${signal}`]));

  it('notices that a request had to be repeated', () => {
    expect(
      picked(
        'Format the price table with two decimals',
        'ok',
        'Please format the price table with two decimals',
      ),
    ).toContain('3 repeated');
  });

  // Agents send a request again with each tool result: one standing instruction took all eight places.
  it('a request that is answered over many tool calls is one lesson, and nobody repeated it', () => {
    const ask = 'Find out why the nightly export of invoices stops halfway';
    const loop = [
      ...['Let me look.', '', '', 'The disk is full.'].map((replyText) => ({ userText: ask, replyText })),
      { userText: 'From now on check the free space first', replyText: 'Noted.' },
      { userText: 'From now on check the free space first', replyText: '' },
    ].map((fields, at) => makeTurn({ ...fields, seq: at + 1 }));
    expect(pickLessons(loop, 0)).toMatchObject([
      { seq: 1, turnId: 'turn-1', signal: 'substantive', answer: 'The disk is full.' },
      { seq: 5, signal: 'instruction', answerBefore: 'The disk is full.', answer: 'Noted.' },
    ]);
    expect(pickLessons(loop, 2).map(({ seq }) => seq)).toEqual([5]);
  });

  it.each([[['hi', 'thanks', 'ok']], [['你好', '谢谢']], [['']]])('small talk teaches nothing: %j', (texts) =>
    expect(picked(...texts)).toEqual([]),
  );

  it('keeps to 8 turns of bounded size, however long the session', () => {
    const lessons = pickLessons(
      session(...Array.from({ length: 60 }, (_, n) => `From now on do thing ${n} ${'x'.repeat(9000)}`)),
      0,
    );
    expect(lessons).toHaveLength(8);
    expect(JSON.stringify(lessons).length).toBeLessThan(8 * 4500);
  });

  it('reads a turn once, and no side turn', () => {
    const turns = session('From now on use tabs', 'From now on use spaces in YAML files');
    expect(pickLessons(turns, 1).map(({ seq }) => seq)).toEqual([2]);
    expect(pickLessons([makeTurn({ kind: 'side', userText: 'From now on use tabs' })], 0)).toEqual([]);
  });

  it('masks a secret that was recorded before the redactor knew it', () => {
    const [lesson] = pickLessons(
      session('Always use the key sk-ant-api03-AbCdEf1234567890AbCdEf1234567890 here'),
      0,
    );
    expect(lesson?.user).not.toContain('AbCdEf1234567890');
  });
});
