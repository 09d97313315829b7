/**
 * What programs and services people name, by what they are for: a project has one database, so that a second one
 * named for the same purpose takes the place of the first. Names are lower case; `/` parts spellings of one thing.
 */
const BY_PURPOSE = {
  database:
    'mysql mariadb postgresql/postgres/postgressql/pg sqlite/sqlite3 mongodb/mongo oracle mssql/sqlserver/sql-server cockroachdb dynamodb cassandra couchdb firestore supabase neo4j duckdb planetscale turso db2',
  cache: 'redis memcached valkey dragonfly',
  queue: 'kafka rabbitmq sqs nats pulsar activemq zeromq',
  search: 'elasticsearch/elastic opensearch solr meilisearch typesense algolia',
  'package manager': 'npm yarn pnpm bun poetry pipenv conda/miniconda uv pdm',
  bundler: 'webpack vite rollup parcel esbuild turbopack rspack',
  'test runner': 'jest vitest mocha jasmine ava pytest unittest nose rspec minitest junit testng',
  'browser tests': 'cypress playwright selenium puppeteer',
  frontend: 'react vue/vue.js/vuejs angular svelte solidjs preact ember qwik',
  'web framework':
    'django flask fastapi rails/ruby-on-rails laravel express/expressjs/express.js nestjs koa fastify spring/spring-boot symfony phoenix gin actix axum',
  'meta framework': 'next.js/nextjs nuxt/nuxt.js remix sveltekit gatsby astro',
  orm: 'prisma typeorm sequelize drizzle sqlalchemy hibernate knex mikroorm',
  ci: 'jenkins github-actions gitlab-ci circleci travis/travis-ci teamcity buildkite drone bitbucket-pipelines',
  hosting:
    'aws gcp/google-cloud azure heroku vercel netlify fly.io/flyio hetzner digitalocean linode ovh render railway cloudflare aliyun/alibaba-cloud/阿里云 tencent-cloud/腾讯云',
  orchestration: 'kubernetes/k8s nomad docker-swarm/swarm ecs openshift docker-compose',
  'code host': 'github gitlab bitbucket gitea forgejo codeberg',
  tracker: 'jira linear asana trello redmine youtrack clickup basecamp shortcut',
  chat: 'slack mattermost discord teams/ms-teams/microsoft-teams zulip rocket.chat',
  editor:
    'vim neovim/nvim emacs vscode/vs-code/visual-studio-code sublime/sublime-text intellij/intellij-idea pycharm webstorm zed nano helix cursor',
  shell: 'bash zsh fish powershell nushell',
  browser: 'chrome firefox safari edge brave vivaldi opera',
  'operating system':
    'windows macos/mac-os linux ubuntu debian fedora arch/arch-linux nixos freebsd android ios',
  'web server': 'nginx apache/httpd caddy traefik haproxy iis',
  logging: 'datadog grafana splunk sentry newrelic/new-relic',
  styling: 'tailwind/tailwindcss bootstrap sass/scss styled-components less',
  formatter: 'prettier biome black ruff yapf gofmt',
} as const;

/** Several of these stand beside each other, so that only another version of the same one takes its place. */
const SIDE_BY_SIDE =
  'python node/node.js/nodejs deno typescript javascript go/golang rust java kotlin php ruby perl scala swift c# c++ dotnet/.net elixir erlang haskell terraform ansible docker helm git ffmpeg cuda pytorch tensorflow openssl';

/** A named technology: what it is for, and the name that its spellings share. */
interface Technology {
  name: string;
  /** Purpose, of which one is in use at a time; its own name where several are. */
  purpose: string;
}

/** Where a technology stands in a text. */
export interface NamedTechnology extends Technology {
  start: number;
  end: number;
  /** As given behind the name; empty where there is none. */
  version: string;
}

const ALL = new Map<string, Technology>();
for (const [purpose, names] of Object.entries(BY_PURPOSE)) addAll(names, () => purpose);
addAll(SIDE_BY_SIDE, (name) => name);

function addAll(names: string, purposeOf: (name: string) => string): void {
  for (const spellings of names.split(/\s+/)) {
    const all = spellings.split('/').map((spelling) => spelling.replaceAll('-', ' '));
    const name = all[0] ?? '';
    for (const spelling of all) ALL.set(spelling, { name, purpose: purposeOf(name) });
  }
}

/** Names that are words of every day too: they count only with a capital or a version. */
const WORDS = new Set(
  'less go edge fish swift rust express spring render black linear cursor teams opera shortcut drone ember phoenix gin helm solr nano zed helix vite pg asana elastic react safari oracle windows apache arch chrome slack discord perl drizzle remix astro railway sublime bun parcel vue dragonfly brave ruby java python c'.split(
    ' ',
  ),
);

const NAME = new RegExp(
  `(?<![\\p{Script=Latin}\\p{N}_.@/-])(?:${[...ALL.keys()]
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[.+]/g, '\\$&').replaceAll(' ', '[ -]'))
    .join('|')})(?![\\p{Script=Latin}\\p{N}_@+#-]|\\.\\p{L})`,
  'giu',
);
const VERSION = /^\s?(?:version |v\.?|バージョン|版本)?\s?(\d+(?:\.(?:\d+|x))*)(?![\p{L}\d%:-])/iu;

/** The technologies that a text names, in order. */
export function technologiesIn(text: string): NamedTechnology[] {
  const found: NamedTechnology[] = [];
  for (const match of text.matchAll(NAME)) {
    const [spelling] = match;
    const technology = ALL.get(spelling.toLowerCase().replaceAll('-', ' '));
    if (!technology) continue;
    const behind = VERSION.exec(text.slice(match.index + spelling.length));
    if (WORDS.has(spelling.toLowerCase()) && spelling === spelling.toLowerCase() && !behind) continue;
    const end = match.index + spelling.length + (behind?.[0].length ?? 0);
    found.push({ ...technology, start: match.index, end, version: behind?.[1] ?? '' });
  }
  return found;
}

/** Words that name a purpose, so that they say nothing of whose it is. */
export const PURPOSE_WORDS: ReadonlySet<string> = new Set(
  [
    ...Object.keys(BY_PURPOSE).flatMap((purpose) => purpose.split(' ')),
    ...'db databases engine store server servers backend front end framework stack tool tooling tests testing cloud provider host platform os ide deploy deploys host hosts base datos données donnees language runtime version system service'.split(
      ' ',
    ),
  ].filter((word) => !['server', 'servers', 'service', 'backend', 'testing', 'tests', 'test'].includes(word)),
);
