import { describe, expect, it } from 'vitest';
import { contradicts, slotsOf } from '../../../src/engine/memory/slots/slots.ts';

/** Whether the second statement takes the place of the first, both being of one person and kept. */
function replaces(before: string, after: string): boolean {
  const [old, next] = [slotsOf('semantic', before), slotsOf('semantic', after)];
  const against = [...next.tells, ...next.ends.map(({ slot, value }) => ({ slot, value: `!${value}` }))];
  return against.some(({ slot, value }) =>
    old.tells.some((told) => told.slot === slot && contradicts(slot, told.value, value)),
  );
}

describe('of one thing, the later value counts', () => {
  it.each([
    ['Our production database is MySQL 5.7.', 'We migrated production to PostgreSQL 16 last weekend.'],
    ['I use VS Code.', "I've switched to Neovim."],
    ['My favorite color is blue', 'My favourite colour is green now'],
    ['I work at Google', 'I joined Anthropic in May'],
    ['I work at Google', 'I now work for Anthropic'],
    ['My manager is Bob', 'Carol is my new manager'],
    ['The API base URL is https://a.example.com', 'The API base URL is https://b.example.com'],
    ['We deploy to AWS', 'We moved everything to GCP'],
    ['The meeting is on Tuesday at 10:00', 'The meeting was moved to Thursday at 14:00'],
    ['Use 2 spaces for indentation', 'Use 4 spaces for indentation'],
    ['Always answer in English', 'Please answer in French from now on'],
    ['I have two kids', 'I have three kids'],
    ['The team has 5 developers', 'The team has 6 developers now'],
    ["We're on Python 3.11", 'We upgraded to Python 3.12'],
    ['The server IP is 10.0.0.5', 'The server IP changed to 10.0.0.9'],
    ['My budget is $500', 'My budget is now $800'],
    ['我的老板是张伟', '我的老板现在是李娜'],
    ['会议在周三下午3点', '会议改到周四上午10点'],
    ['我喜欢喝咖啡', '我不喜欢喝咖啡了'],
    ['我们用MySQL 5.7', '我们换成了PostgreSQL 16'],
    ['我们的服务部署在阿里云', '我们的服务迁移到腾讯云了'],
    ['会議は水曜日です', '会議は木曜日に変更になりました'],
    ['コーヒーが好きです', 'コーヒーはもう好きではありません'],
    ['Mi jefe es Juan', 'Mi jefa ahora es Marta'],
    ['La reunión es el lunes', 'La reunión pasó al jueves'],
    ['Me gusta el café', 'Ya no me gusta el café'],
    ['Mon manager est Paul', 'Mon manager est maintenant Julie'],
    ['La réunion est le lundi', 'La réunion est déplacée au jeudi'],
    ["J'aime le café", "Je n'aime plus le café"],
    ["The user's favorite editor is Vim", 'The user now uses Emacs'],
    ["User's home city is Lyon", "User's home city is Nantes"],
    ["The staging server's hostname is alpha.example", "The staging server's hostname is beta.example"],
    ['The project deadline is 2026-03-01', 'The project deadline moved to 2026-04-15'],
    ['My email is a@x.com', 'My email address is b@y.com'],
    ['I prefer short answers', 'I prefer detailed answers'],
    ['Use metric units', 'Use imperial units please'],
    ['I like dark mode', 'I prefer light mode these days'],
    ['The on-call engineer is Alice', 'Bob is the on-call engineer'],
    ['The default branch is master', 'The default branch is now main'],
    ['We use Jira for tickets', 'We moved tickets from Jira to Linear'],
    ["I'm based in Paris", 'I relocated to Madrid'],
    ['Our office is in Berlin', 'Our office moved to Hamburg'],
    ['Nuestro servidor usa MySQL', 'Nuestro servidor ahora usa PostgreSQL'],
    ['Notre base de données est MySQL', 'Notre base de données est maintenant PostgreSQL'],
    ['データベースはMySQLです', 'データベースはPostgreSQLに変わりました'],
    ['私の上司は田中さんです', '私の上司は佐藤さんになりました'],
    ['The retention period is 30 days', 'The retention period is now 90 days'],
    ['The release is on March 3', 'The release slipped to March 17'],
    ['My dentist is Dr. Lee', 'My new dentist is Dr. Park'],
    ['Alice works at Acme', 'Alice now works at Globex'],
    ['Bob lives in Oslo', 'Bob moved to Bergen'],
    ['小王住在上海', '小王搬到了深圳'],
    ['Ana vive en Madrid', 'Ana se mudó a Sevilla'],
    ['Our servers are in Frankfurt', 'Our servers moved to Dublin'],
    ['Our standup is at 9am', 'Our standup is now at 9:30am'],
    ['We host on Heroku', 'We host on Fly.io now'],
    ['The app is written in Ruby 2.7', 'The app now runs on Ruby 3.3'],
    ['Mi color favorito es el azul', 'Mi color favorito es el verde'],
    ['Ma couleur préférée est le bleu', 'Ma couleur préférée est le vert'],
    ['我最喜欢的颜色是蓝色', '我最喜欢的颜色是绿色'],
    ["Le port de l'API est 3000", "Le port de l'API est 3001"],
    ['El puerto de la API es 3000', 'El puerto de la API ahora es 3001'],
    ['API 的端口是 3000', 'API 的端口改成了 3001'],
    ['APIのポートは3000です', 'APIのポートは3001に変更しました'],
    ['Réponds en français', 'Réponds en anglais maintenant'],
    ['Responde en español', 'Responde en inglés'],
    ['日本語で答えてください', '英語で答えてください'],
    ['The Wi-Fi name is Kepler', 'The Wi-Fi name is Newton'],
    ['Our tech lead is Ana', 'Our tech lead is now Ben'],
    ['My pronouns are she/her', 'My pronouns are they/them'],
  ])('%s → %s', (before, after) => {
    expect(replaces(before, after)).toBe(true);
  });
});

describe('of two things, each has its own', () => {
  it.each([
    ['Project A uses MySQL', 'Project B uses PostgreSQL'],
    ['US deploys run on Mondays', 'EU deploys run on Tuesdays'],
    ['My brother lives in Paris', 'I live in Berlin'],
    ['Alice works at Acme', 'I work at Google'],
    ['My work email is a@x.com', 'My email is b@y.com'],
    ["My mom's birthday is May 5", "My dad's birthday is June 6"],
    ['I like tea', 'I like coffee'],
    ["Don't use MySQL for new services", 'We use MySQL'],
    ['Use MySQL in tests', 'Use PostgreSQL in production'],
    ["I'm moving to Berlin next month", 'I live in Paris'],
    ['Server 1 runs Debian', 'Server 2 runs Ubuntu'],
    ["My daughter's name is Mia", "My son's name is Leo"],
    ['The blog runs on Ghost with SQLite', 'The shop runs on PostgreSQL'],
    ['Bob lives in Oslo', 'Alice lives in Bergen'],
    ['The house has 3 floors', 'The office has 4 floors'],
    ['The TV is on channel 3', 'The radio is on channel 4'],
    ['We considered MongoDB', 'We use PostgreSQL'],
    ['The old office was in Berlin', 'Our office is in Hamburg'],
    ['Alice likes coffee', "Bob doesn't like coffee"],
    ['My phone is an iPhone 15', 'My phone number is 555-1234'],
    ['The morning standup is at 9:00', 'The evening standup is at 17:00'],
    ['For personal projects I use Vim', 'At work I use VS Code'],
    ['The API timeout is 30 seconds', 'The upload timeout is 60 seconds'],
    ['测试环境用MySQL', '生产环境用PostgreSQL'],
    ['小王喜欢用空格缩进', '我喜欢用制表符缩进'],
    ['家里的服务器用Debian', '公司的服务器用Ubuntu'],
    ['自宅のサーバーはDebianです', '会社のサーバーはUbuntuです'],
    ['El servidor de casa usa MySQL', 'El servidor del trabajo usa PostgreSQL'],
    ['Le serveur de la maison utilise MySQL', 'Le serveur du bureau utilise PostgreSQL'],
    ['Ana vive en Madrid', 'Vivo en Sevilla'],
    ['I was born in Rome', 'I live in Milan'],
    ['Backups run at 2am', 'Backups for the NAS run at 3am'],
    ['We use React', 'Should we use Vue?'],
    ['I used to live in Rome', 'I live in Milan'],
    ['I use npm at work', 'I use pnpm'],
    ['小王住在上海', '我住在北京'],
    ['田中さんは大阪に住んでいます', '私は東京に住んでいます'],
    ['The office is in Berlin', 'The warehouse is in Hamburg'],
    ['The retention period is 30 days', 'The trial period is 14 days'],
    ['Alice is our designer', 'Bob is our developer'],
    ['I take vitamin D', 'I take vitamin B12'],
    ['The first meeting is on Monday', 'The last meeting is on Friday'],
    ['My home address is 5 Elm St', 'My work address is 9 Oak Ave'],
    ['Use REST for public APIs', 'Use gRPC for internal services'],
    ['The Paris office has 20 people', 'The Lyon office has 12 people'],
    ['My left shoe size is 42', 'My right shoe size is 43'],
    ['Lunch with Bob is on Monday', 'Lunch with Alice is on Tuesday'],
    ['Ich benutze MySQL', 'Wir nutzen PostgreSQL'],
    ['El despliegue de staging es el lunes', 'El despliegue de producción es el martes'],
    ['Le déploiement de staging est le lundi', 'Le déploiement de production est le mardi'],
    ['测试环境周一部署', '生产环境周二部署'],
    ['我的工作邮箱是a@x.com', '我的私人邮箱是b@y.com'],
    ['仕事のメールは a@x.com です', '個人のメールは b@y.com です'],
    ['I prefer Celsius for weather', 'I prefer metric units for weight'],
  ])('%s / %s', (one, other) => {
    expect(replaces(one, other)).toBe(false);
    expect(replaces(other, one)).toBe(false);
  });
});

describe('no value is told by', () => {
  it.each([
    'hi',
    'Which database do we use?',
    'If we used MySQL, the tests would be slower',
    'We might move to MongoDB next year',
    'We used Cassandra until 2021',
    'I read an article about MySQL 9',
    'My phone is broken',
    'I have a meeting on Monday',
    'The meeting was on Monday',
    'Remind me to call Bob at 5pm',
    '我们打算迁移到 MongoDB',
    '你用什么数据库？',
    'MongoDB への移行を検討しています',
    'Queremos migrar a MongoDB',
    'Nous prévoyons de passer à MongoDB',
  ])('%s', (text) => {
    expect(slotsOf('semantic', text)).toMatchObject({ tells: [], ends: [] });
  });

  it('what happened once, or a summary', () => {
    expect(slotsOf('episodic', 'We moved to PostgreSQL 16').tells).toEqual([]);
    expect(slotsOf('working_summary', 'We moved to PostgreSQL 16').tells).toEqual([]);
  });
});

it('reads a long text in no time that anybody notices', () => {
  const hostile = [
    `${'my '.repeat(600)}phone is`,
    `${' '.repeat(1900)}but`,
    `${'a'.repeat(1990)}`,
    `${'from '.repeat(390)}`,
    `${'我'.repeat(1990)}`,
    `the ${'x '.repeat(140)}is`,
  ];
  for (const text of hostile) slotsOf('semantic', text);
  const begin = process.cpuUsage();
  for (const text of hostile) slotsOf('semantic', text);
  const { user } = process.cpuUsage(begin);
  expect(user / 1000).toBeLessThan(500);
});
