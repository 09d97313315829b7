/** Ordered and append-only: a migration that has landed is never edited. Index + 1 is the schema version. */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE sessions (
    -- The client's own id; with "~agent" behind it where another agent uses the same one.
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    -- The id that the client gave; null for sessions recognised by history.
    client_id TEXT,
    -- loopback, or the peer's address.
    client TEXT NOT NULL,
    -- The agent's own key of the chat, stable over /new, e.g. OpenClaw's agent:main:main.
    lane TEXT,
    source TEXT NOT NULL,
    -- For sessions recognised by history: hash of client, agent, first system text and first user text.
    fingerprint TEXT,
    -- Hashes of the messages seen so far, JSON array; only for sessions recognised by history.
    chain TEXT,
    started_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    ended_at TEXT,
    end_reason TEXT,
    turns INTEGER NOT NULL DEFAULT 0,
    -- What was injected and where, JSON; re-added byte for byte on every later turn.
    injection TEXT NOT NULL DEFAULT '{}',
    UNIQUE (agent, client_id)
  ) STRICT;
  CREATE INDEX sessions_open ON sessions (last_at) WHERE ended_at IS NULL;
  CREATE INDEX sessions_fingerprint ON sessions (fingerprint) WHERE fingerprint IS NOT NULL;

  CREATE TABLE turns (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    agent TEXT NOT NULL,
    dialect TEXT NOT NULL,
    upstream TEXT NOT NULL,
    requested_model TEXT NOT NULL,
    model TEXT NOT NULL,
    status TEXT NOT NULL,
    http_status INTEGER,
    started_at TEXT NOT NULL,
    first_byte_ms REAL,
    duration_ms REAL,
    user_text TEXT NOT NULL DEFAULT '',
    reply_text TEXT NOT NULL DEFAULT '',
    injection TEXT NOT NULL,
    -- From the injection report, for sums over a day.
    added_tokens INTEGER NOT NULL DEFAULT 0,
    skills INTEGER NOT NULL DEFAULT 0,
    usage TEXT,
    error TEXT,
    masked INTEGER NOT NULL DEFAULT 0,
    -- Outlines of bodies: JSON that names the parts they consist of. A null sent_body is the same as request_body.
    request_body TEXT,
    sent_body TEXT,
    reply_body TEXT
  ) STRICT;
  CREATE INDEX turns_by_session ON turns (session_id, started_at, id);
  CREATE INDEX turns_by_time ON turns (started_at, id);
  CREATE INDEX turns_by_kind ON turns (kind, started_at, id);
  CREATE INDEX turns_open ON turns (session_id) WHERE status = 'open';

  -- Content-addressed pieces of bodies (system prompts, tools, messages, runs of messages): a conversation
  -- keeps each message once.
  CREATE TABLE parts (
    hash TEXT PRIMARY KEY,
    -- One byte: 0 the UTF-8 JSON text follows, 1 its deflate-raw form.
    data BLOB NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    -- What the job is about, e.g. a session id; one job per kind and subject.
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    run_at TEXT NOT NULL,
    last_error TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (kind, subject)
  ) STRICT;
  CREATE INDEX jobs_due ON jobs (run_at) WHERE state IN ('queued', 'running');

  CREATE TABLE proposals (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    category TEXT NOT NULL,
    body TEXT NOT NULL,
    reason TEXT NOT NULL,
    state TEXT NOT NULL,
    auto INTEGER NOT NULL DEFAULT 0,
    findings TEXT NOT NULL DEFAULT '[]',
    evidence TEXT NOT NULL DEFAULT '[]',
    job_id TEXT,
    created_at TEXT NOT NULL,
    decided_at TEXT
  ) STRICT;
  CREATE INDEX proposals_waiting ON proposals (created_at) WHERE state = 'waiting';

  CREATE TABLE skill_uses (
    skill TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (skill, turn_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What can be taken back, across restarts: a row is used once and dropped when it expires.
  CREATE TABLE undo (
    token TEXT PRIMARY KEY,
    -- Which feature can take it back, e.g. 'proposal.accept'.
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    label TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- How far the evolver has read each session, so that a turn is paid for once.
  CREATE TABLE learned (
    session_id TEXT PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Phrases that call for the proposed skill, JSON array; and what the user said when rejecting it.
  ALTER TABLE proposals ADD COLUMN triggers TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE proposals ADD COLUMN verdict TEXT NOT NULL DEFAULT '';
  `,
  `
  -- The reasoning of answers, for vendors that want it back from clients that drop it.
  CREATE TABLE reasoning (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    wire TEXT NOT NULL,
    -- Ids of the answer's tool calls without punctuation, JSON array.
    call_ids TEXT NOT NULL,
    -- Hash of what the answer said and called.
    hash TEXT NOT NULL,
    -- {"text"} or {"blocks"}, masked.
    data TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX reasoning_by_session ON reasoning (session_id, id);
  CREATE INDEX reasoning_by_hash ON reasoning (hash);
  CREATE INDEX reasoning_by_time ON reasoning (at);
  `,
  `
  -- Responses that clients may continue by id; rows expire after a day without use. What they hold goes back into
  -- requests, so it is exact.
  CREATE TABLE responses (
    id TEXT PRIMARY KEY,
    previous_id TEXT,
    session_id TEXT,
    -- Items that the request brought, JSON array.
    input TEXT NOT NULL,
    -- The response object, JSON; null when the provider keeps it.
    response TEXT,
    -- Milliseconds since the epoch.
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX responses_expiry ON responses (expires_at);

  -- Output items by their own id, for references to them.
  CREATE TABLE response_items (
    item_id TEXT PRIMARY KEY,
    response_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Every text that a skill has had. A version without a hash is the skill's removal.
  CREATE TABLE skill_versions (
    skill TEXT NOT NULL,
    version INTEGER NOT NULL,
    hash TEXT,
    -- user, learned, built-in, outside (found changed in the folder)
    author TEXT NOT NULL,
    proposal TEXT,
    note TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL,
    PRIMARY KEY (skill, version)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX skill_versions_by_time ON skill_versions (at);
  CREATE TABLE skill_texts (
    hash TEXT PRIMARY KEY,
    text TEXT NOT NULL
  ) STRICT;

  -- The text that an edit was proposed for, by its hash in skill_texts; null for new skills.
  ALTER TABLE proposals ADD COLUMN base_hash TEXT;
  `,
  `
  -- Host of the provider that answered, which says whose prices hold; null for turns recorded before.
  ALTER TABLE turns ADD COLUMN host TEXT;
  -- Holds all that sums of usage need: the rows themselves are long, and the sums read many.
  CREATE INDEX turns_usage ON turns
    (started_at, kind, agent, upstream, host, model, status, http_status, duration_ms, added_tokens, usage);

  -- Calls that MetaClaw made by itself.
  CREATE TABLE own_calls (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    -- 'evolver', 'provider-test'.
    purpose TEXT NOT NULL,
    -- The session that it was about.
    session_id TEXT,
    upstream TEXT NOT NULL,
    host TEXT NOT NULL,
    model TEXT NOT NULL,
    http_status INTEGER,
    -- As in turns; null when nothing was used.
    usage TEXT
  ) STRICT;
  CREATE INDEX own_calls_by_time ON own_calls (at);

  -- The ledger: every call, relayed or our own. Relayed ones are the turns themselves, so that the two cannot differ.
  CREATE VIEW calls AS
    SELECT started_at AS at, 0 AS own, iif(kind = 'main', 'chat', 'side') AS purpose, agent, session_id,
      id AS turn_id, upstream, host, model, added_tokens, usage,
      -- Not answered by the provider, and not cut off by a stop of ours either.
      usage IS NULL AND status = 'failed' AND ifnull(http_status, 599) >= 400 AND duration_ms IS NOT NULL AS refused
    FROM turns WHERE status <> 'open'
    UNION ALL
    SELECT at, 1, purpose, NULL, session_id, NULL, upstream, host, model, 0, usage, usage IS NULL FROM own_calls;

  -- The count that stood here before the ledger; what was used earlier on the day of the update is not in the cap.
  DELETE FROM settings WHERE key = 'usage.today';
  `,
  `
  -- The last digest of the chain: a request that continues a session has that message among its own.
  ALTER TABLE sessions ADD COLUMN tail TEXT;
  UPDATE sessions SET tail = json_extract(chain, '$[#-1]') WHERE chain IS NOT NULL;
  DROP INDEX sessions_fingerprint;
  CREATE INDEX sessions_fingerprint ON sessions (fingerprint, tail) WHERE fingerprint IS NOT NULL;
  `,
  `
  -- What users say of turns, outside of the conversation: one word a turn, the last one.
  CREATE TABLE feedback (
    turn_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    -- good, bad
    label TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX feedback_by_session ON feedback (session_id);

  -- Sessions in which a skill fitted: whether it was carried or withheld, from which turn on, and in which version.
  CREATE TABLE skill_trials (
    skill TEXT NOT NULL,
    session_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    withheld INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (skill, session_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX skill_trials_by_session ON skill_trials (session_id);

  -- How requests went: by feedback, by the user's next words, by tools that failed.
  CREATE TABLE outcomes (
    turn_id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL,
    good INTEGER NOT NULL,
    why TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outcomes_by_session ON outcomes (session_id, turn_id);
  CREATE TABLE rated_sessions (
    session_id TEXT PRIMARY KEY,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- The counts as columns, null where nobody counted, and all of it in the index: sums read nothing else.
  DROP VIEW calls;
  DROP INDEX turns_usage;
  CREATE INDEX turns_usage ON turns
    (started_at, id, session_id, kind, agent, upstream, host, model, status, http_status, duration_ms, added_tokens,
     usage);
  CREATE VIEW calls AS
    SELECT started_at AS at, 0 AS own, iif(kind = 'main', 'chat', 'side') AS purpose, agent, session_id,
      id AS turn_id, upstream, host, model, added_tokens,
      json_extract(usage, '$.inputTokens') AS input_tokens,
      json_extract(usage, '$.outputTokens') AS output_tokens,
      json_extract(usage, '$.cacheReadTokens') AS cache_read_tokens,
      json_extract(usage, '$.cacheWriteTokens') AS cache_write_tokens,
      json_extract(usage, '$.cacheHourTokens') AS cache_hour_tokens,
      json_extract(usage, '$.estimated') AS estimated,
      json_extract(usage, '$.reportedCost') AS reported_cost,
      usage IS NULL AND status = 'failed' AND ifnull(http_status, 599) >= 400 AND duration_ms IS NOT NULL AS refused
    FROM turns WHERE status <> 'open'
    UNION ALL
    SELECT at, 1, purpose, NULL, session_id, NULL, upstream, host, model, 0,
      json_extract(usage, '$.inputTokens'),
      json_extract(usage, '$.outputTokens'),
      json_extract(usage, '$.cacheReadTokens'),
      json_extract(usage, '$.cacheWriteTokens'),
      json_extract(usage, '$.cacheHourTokens'),
      json_extract(usage, '$.estimated'),
      json_extract(usage, '$.reportedCost'),
      usage IS NULL
    FROM own_calls;
  `,
  `
  -- Whose memories they are; empty parts are not told apart.
  CREATE TABLE memory_scopes (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    UNIQUE (user, workspace, agent)
  ) STRICT;

  -- What was said, word for word, a row per speaker; redacted, and without what MetaClaw had added.
  CREATE TABLE memory_turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The recorded turn and the role, or a hash of what was imported: the same is kept once.
    key TEXT NOT NULL UNIQUE,
    scope INTEGER NOT NULL REFERENCES memory_scopes (id),
    session_id TEXT NOT NULL,
    turn_id TEXT,
    -- user, assistant
    role TEXT NOT NULL,
    speaker TEXT NOT NULL,
    text TEXT NOT NULL,
    said_at TEXT NOT NULL,
    -- 1 until it was looked through for memories.
    unread INTEGER NOT NULL DEFAULT 0,
    -- Set while it can still be brought back.
    forgotten_at TEXT
  ) STRICT;
  CREATE INDEX memory_turns_unread ON memory_turns (session_id, id) WHERE unread = 1;
  CREATE INDEX memory_turns_by_session ON memory_turns (session_id, id);
  CREATE INDEX memory_turns_by_scope ON memory_turns (scope, id);
  CREATE INDEX memory_turns_by_turn ON memory_turns (turn_id) WHERE turn_id IS NOT NULL;
  CREATE INDEX memory_turns_forgotten ON memory_turns (forgotten_at) WHERE forgotten_at IS NOT NULL;

  CREATE TABLE memory_units (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    scope INTEGER NOT NULL REFERENCES memory_scopes (id),
    kind TEXT NOT NULL,
    content TEXT NOT NULL,
    -- Of the content in its plainest form, so that the same is kept once.
    hash TEXT NOT NULL,
    -- What it tells the value of, e.g. project/database; null where it tells of nothing that can change.
    slot TEXT,
    -- That value in its plainest form, with a leading ! where it is what no longer holds.
    value TEXT,
    -- How often it was said.
    mentions INTEGER NOT NULL DEFAULT 1,
    -- active, superseded, expired, forgotten
    status TEXT NOT NULL,
    -- What it was before it was forgotten.
    status_before TEXT,
    pinned INTEGER NOT NULL DEFAULT 0,
    -- rules, llm, user, import
    origin TEXT NOT NULL,
    importance REAL NOT NULL,
    confidence REAL NOT NULL,
    observed_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    valid_from TEXT,
    valid_to TEXT,
    expires_at TEXT,
    -- uuid of the unit that replaced it, and whether that one says the same.
    superseded_by TEXT,
    merged INTEGER NOT NULL DEFAULT 0,
    -- JSON array.
    tags TEXT NOT NULL DEFAULT '[]',
    -- Fields of an imported store that have no column here, JSON.
    extra TEXT,
    forgotten_at TEXT
  ) STRICT;
  CREATE INDEX memory_units_by_scope ON memory_units (scope, status, kind);
  CREATE INDEX memory_units_by_hash ON memory_units (scope, hash);
  CREATE INDEX memory_units_by_slot ON memory_units (scope, slot) WHERE slot IS NOT NULL AND status = 'active';
  CREATE INDEX memory_units_newest ON memory_units (status, created_at, id);
  CREATE INDEX memory_units_expiring ON memory_units (expires_at) WHERE expires_at IS NOT NULL AND status = 'active';
  CREATE INDEX memory_units_forgotten ON memory_units (forgotten_at) WHERE forgotten_at IS NOT NULL;
  CREATE INDEX memory_units_replaced ON memory_units (superseded_by) WHERE superseded_by IS NOT NULL;

  -- Which words a memory comes from.
  CREATE TABLE memory_sources (
    unit INTEGER NOT NULL REFERENCES memory_units (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL REFERENCES memory_turns (id) ON DELETE CASCADE,
    PRIMARY KEY (unit, turn)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memory_sources_by_turn ON memory_sources (turn);

  CREATE TABLE memory_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    unit INTEGER NOT NULL REFERENCES memory_units (id) ON DELETE CASCADE,
    at TEXT NOT NULL,
    what TEXT NOT NULL,
    by TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX memory_events_by_unit ON memory_events (unit, id);

  -- Turns that carried a memory: the uuid of a unit, or t and the number of something said.
  CREATE TABLE memory_uses (
    memory TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (memory, turn_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memory_uses_by_turn ON memory_uses (turn_id);

  -- Recorded turns whose words could not be taken up with them; JSON of what was to be taken up.
  CREATE TABLE memory_missed (
    turn_id TEXT PRIMARY KEY,
    heard TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Pairs of units that rules cannot settle, the lower uuid first; kept when the user said that both hold.
  CREATE TABLE memory_conflicts (
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    -- contradiction, near-duplicate
    why TEXT NOT NULL,
    message TEXT NOT NULL,
    at TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (one, other)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memory_conflicts_by_other ON memory_conflicts (other);

  -- A few words of each unit, as numbers: units that share one may say nearly the same.
  CREATE TABLE memory_sketches (
    scope INTEGER NOT NULL,
    word INTEGER NOT NULL,
    unit INTEGER NOT NULL REFERENCES memory_units (id) ON DELETE CASCADE,
    PRIMARY KEY (scope, word, unit)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memory_sketches_by_unit ON memory_sketches (unit);

  -- Keys of memory_turns that were forgotten for good: what was said there is not taken up again.
  CREATE TABLE memory_gone (
    key TEXT PRIMARY KEY,
    at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Vectors of texts, so that each text is embedded once.
  CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    -- Endpoint, model and size.
    model TEXT NOT NULL,
    -- Of the text.
    key TEXT NOT NULL,
    -- 32-bit floats, little-endian, of length 1.
    vector BLOB NOT NULL,
    -- Milliseconds since the epoch.
    at INTEGER NOT NULL,
    UNIQUE (key, model)
  ) STRICT;
  CREATE INDEX vectors_by_model ON vectors (model);
  `,
  `
  -- Search of memories. A generation is a whole index, made by one way of splitting texts; the newest that is complete
  -- serves, and it is kept until the next one is.
  CREATE TABLE memory_index (
    generation INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    -- Up to which row of memory_turns and memory_units it was built; null: it is complete.
    turn INTEGER,
    unit INTEGER
  ) STRICT;

  CREATE TABLE memory_index_scopes (
    generation INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    -- Documents, numbered from 0 in their scope; the first sealed ones stand in the lists.
    docs INTEGER NOT NULL,
    sealed INTEGER NOT NULL,
    sealed_stamp INTEGER NOT NULL,
    tail_stamp INTEGER NOT NULL,
    PRIMARY KEY (generation, scope)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE memory_docs (
    generation INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    -- turn, unit
    type TEXT NOT NULL,
    -- Row of memory_turns or memory_units; null once it was taken out.
    ref INTEGER,
    meta BLOB NOT NULL,
    -- Separated by spaces, repeated as often as they stand there.
    terms TEXT NOT NULL,
    PRIMARY KEY (generation, scope, doc)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX memory_docs_by_ref ON memory_docs (generation, type, ref);

  -- What is known of sealed documents, 1024 in a block.
  CREATE TABLE memory_doc_meta (
    generation INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    block INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (generation, scope, block)
  ) STRICT, WITHOUT ROWID;

  -- In which sealed documents of a scope a term stands.
  CREATE TABLE memory_postings (
    generation INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    term TEXT NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (generation, scope, term, first)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Agents whose settings were changed to come here, and how each file is put back, JSON.
  CREATE TABLE agent_connections (
    agent TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    files TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Settings of memory that were taken up because the user's own cases went better with them. JSON: what the config
  -- said, what counted before, what counts since.
  CREATE TABLE memory_adoptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    base TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    why TEXT NOT NULL,
    undone_at TEXT
  ) STRICT;
  `,
  `
  CREATE INDEX memory_units_pinned ON memory_units (scope, id) WHERE pinned = 1;
  `,
];
