// The dependency rules of the architecture, one entry each. Run by `npm run check`.
// Graph: shared <- engine/{ports,platform,store,bus} <- features <- proxy <- engine/index <- router <- {main, cli, control};
// renderer <- shared only.

// Every folder of the engine is a feature, but for the two that all features stand on.
const feature = '((?!platform/|store/)[^/]+)';
const npm = (...names) => `(^|/)node_modules/(${names.join('|')})(/|$)`;
const nodeCore = { dependencyTypes: ['core'] };

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'shared-is-pure',
      comment: 'shared imports only itself, zod and i18next: everyone may import it, in any environment',
      severity: 'error',
      from: { path: '^src/shared/' },
      to: { pathNot: ['^src/shared/', npm('zod', 'i18next')] },
    },
    {
      name: 'engine-knows-no-host',
      comment: 'the engine runs in Electron and in plain Node: no electron, no react, no host',
      severity: 'error',
      from: { path: '^src/engine/' },
      to: {
        path: [
          '^electron$',
          npm('electron', 'electron-store', 'react', 'react-dom'),
          '^src/(main|cli|preload|renderer)/',
        ],
      },
    },
    {
      name: 'features-are-islands',
      comment: 'a feature imports no other feature; what it needs arrives through engine/index.ts',
      severity: 'error',
      from: {
        path: `^src/engine/${feature}/`,
        pathNot: ['^src/engine/proxy/', '^src/engine/sessions/turn\\.ts$'],
      },
      to: { path: `^src/engine/${feature}/`, pathNot: '^src/engine/$1/' },
    },
    {
      name: 'sessions-keep-the-injection',
      comment:
        'a session keeps what was injected, so its types name the type of the inject feature, and nothing else',
      severity: 'error',
      from: { path: '^src/engine/sessions/turn\\.ts$' },
      to: {
        path: `^src/engine/${feature}/`,
        pathNot: ['^src/engine/sessions/', '^src/engine/inject/index\\.ts$'],
      },
    },
    {
      name: 'proxy-knows-three-features',
      comment: 'the proxy may import the index.ts of upstream, sessions and inject, and no other feature',
      severity: 'error',
      from: { path: '^src/engine/proxy/' },
      to: {
        path: `^src/engine/${feature}/`,
        pathNot: ['^src/engine/proxy/', '^src/engine/(upstream|sessions|inject)/index\\.ts$'],
      },
    },
    {
      name: 'features-use-the-base-only',
      comment: 'a feature imports ports, bus, platform and store; not the composition root or the transports',
      severity: 'error',
      from: { path: `^src/engine/${feature}/` },
      to: {
        path: '^src/engine/',
        pathNot: [
          `^src/engine/${feature}/`,
          '^src/engine/(ports|bus)\\.ts$',
          '^src/engine/(platform|store)/',
        ],
      },
    },
    {
      name: 'base-knows-no-feature',
      comment: 'ports, bus, platform and store import no feature and nothing above them',
      severity: 'error',
      from: { path: ['^src/engine/(ports|bus)\\.ts$', '^src/engine/(platform|store)/'] },
      to: {
        path: '^src/engine/',
        pathNot: ['^src/engine/(ports|bus)\\.ts$', '^src/engine/(platform|store)/'],
      },
    },
    {
      name: 'features-have-one-door',
      comment: 'from outside a feature only its index.ts is importable',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/engine/${feature}/` },
      to: { path: `^src/engine/${feature}/`, pathNot: `^src/engine/${feature}/index\\.ts$` },
    },
    {
      name: 'hosts-use-the-front',
      comment:
        'main and cli import engine/{index,ports,router,control}, its platform layer, the demo and shared only',
      severity: 'error',
      from: { path: '^src/(main|cli)/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/$1/',
          '^src/shared/',
          '^src/engine/(index|ports|router|control)\\.ts$',
          '^src/engine/platform/',
          '^src/engine/demo/index\\.ts$',
        ],
      },
    },
    {
      name: 'preload-is-thin',
      comment: 'the preload script imports electron and types of shared',
      severity: 'error',
      from: { path: '^src/preload/' },
      to: { path: '.', pathNot: ['^src/preload/', '^src/shared/', '^electron$', npm('electron')] },
    },
    {
      name: 'preload-takes-types-only',
      comment: 'values of shared would pull zod into the sandboxed preload script',
      severity: 'error',
      from: { path: '^src/preload/' },
      to: { path: '^src/shared/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'renderer-is-a-page',
      comment: 'the renderer imports shared and npm packages; never electron, Node or the engine',
      severity: 'error',
      from: { path: '^src/renderer/' },
      to: { path: ['^src/(?!renderer/|shared/)', '^electron$', npm('electron', 'electron-store')] },
    },
    {
      name: 'renderer-has-no-node',
      comment: 'the renderer runs in a sandboxed page without Node',
      severity: 'error',
      from: { path: '^src/renderer/' },
      to: nodeCore,
    },
    {
      name: 'one-owner-of-sqlite',
      comment: 'the SQLite driver is used by store/database.ts alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/engine/store/database\\.ts$' },
      to: { path: ['^(node:)?sqlite$', npm('@photostructure/sqlite', 'libsql', 'better-sqlite3')] },
    },
    {
      name: 'one-owner-of-pino',
      comment: 'the log library is used by platform/logger.ts alone',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/engine/platform/logger\\.ts$' },
      to: { path: npm('pino', 'rotating-file-stream') },
    },
    {
      name: 'source-knows-no-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts)/' },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: { path: '^src/' },
      // A virtual module of the bundler is no file.
      to: {
        couldNotResolve: true,
        pathNot: ['^electron$', '^node:sqlite$', '^virtual:', '\\?(raw|url|worker|asset)'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.mjs', '.cjs', '.js', '.json', '.css'],
    },
  },
};
