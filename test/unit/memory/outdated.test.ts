import { describe, expect, it } from 'vitest';
import { claimsOf, outdates } from '../../../src/engine/memory/outdated.ts';

const isOutdated = (earlier: string, later: string) => outdates(claimsOf(later), claimsOf(earlier));

describe('a later statement', () => {
  // Would catch two values of one thing that are both told as current.
  it.each([
    [
      'We use MySQL 5.7 for the orders database, hosted on RDS.',
      'We moved the orders database from MySQL 5.7 to PostgreSQL 16 last weekend.',
    ],
    [
      'The shop runs on Node 18.17 in production.',
      'Production is on Node 22 now, so you can use the newer APIs.',
    ],
    [
      'The public API is rate limited to 120 requests per minute per key.',
      'We raised the rate limit of the public API to 300 requests per minute per key.',
    ],
    [
      'My phone number is 030 5550 1423, the office has it wrong.',
      'I have a new phone number, it is 040 5559 8876.',
    ],
    ['The weekly report is due on Mondays.', 'The weekly report has moved to Thursdays.'],
    ['I eat meat and fish.', 'I no longer eat meat and fish.'],
    [
      'Nous utilisons MySQL 5.7 pour la base de données.',
      'Nous avons migré la base de données de MySQL 5.7 vers PostgreSQL 16.',
    ],
    [
      'Vivo en Sevilla, en el barrio de Triana.',
      'Me he mudado a Valencia, ahora vivo en el barrio de Ruzafa.',
    ],
    ['我们项目的数据库用的是 MySQL 5.7。', '上周我们把数据库从 MySQL 5.7 迁移到了 PostgreSQL 16。'],
    [
      '予約システムのデータベースは MySQL 5.7 を使っています。',
      '先月、データベースを MySQL 5.7 から PostgreSQL 16 に移行しました。',
    ],
  ])('takes the place of: %s', (earlier, later) => {
    expect(isOutdated(earlier, later)).toBe(true);
  });

  // Would catch a value that is lost because another thing of its kind has changed.
  it.each([
    ['The staging database runs on PostgreSQL 15.', 'The production database runs on PostgreSQL 16 now.'],
    ['The billing service listens on port 3000.', 'The search service has moved to port 3001.'],
    ["My mother's phone number is 030 111.", "My father's new phone number is 030 222."],
    ['Alice works from Berlin on Mondays.', 'Bob works from Hamburg on Tuesdays now.'],
    ['We use PostgreSQL 16 for the orders database.', 'We also use Redis 7 for sessions now.'],
    ['The weekly report is due on Mondays.', 'When is the weekly report due now, on Thursdays?'],
    ['My dentist appointment is on May 3 at 9:00.', 'The car inspection was moved to June 7 at 10:00.'],
    ['The flat has 3 rooms.', 'We raised the rate limit of the public API to 300 requests.'],
    ['La base de staging est en PostgreSQL 15.', 'La base de production est désormais en PostgreSQL 16.'],
    ['测试环境用的是 PostgreSQL 15。', '生产环境现在用的是 PostgreSQL 16。'],
    ['妈妈的电话是 030 111。', '爸爸换了新电话,是 030 222。'],
    ['検証環境は PostgreSQL 15 です。', '本番環境は PostgreSQL 16 に変更しました。'],
  ])('leaves: %s', (earlier, later) => {
    expect(isOutdated(earlier, later)).toBe(false);
  });

  it('changes nothing where it names no change', () => {
    expect(isOutdated('The budget is 215,000 euros.', 'The budget is 238,000 euros.')).toBe(false);
  });
});
