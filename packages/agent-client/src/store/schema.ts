/**
 * Tables of `turnback.db`, one list of statements per version of the schema: an older store is brought up by the
 * lists it lacks, a newer one is refused. States and lists are JSON texts, as in manifests (docs/format.md).
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE workspaces(
  id TEXT PRIMARY KEY, root TEXT NOT NULL, device TEXT NOT NULL, inode TEXT NOT NULL, name TEXT NOT NULL, project TEXT,
  created_at TEXT NOT NULL, id_key BLOB NOT NULL, next_scan INTEGER NOT NULL DEFAULT 1,
  next_number INTEGER NOT NULL DEFAULT 1, next_seq INTEGER NOT NULL DEFAULT 1, head_sha256 TEXT) STRICT;
CREATE UNIQUE INDEX workspaces_by_place ON workspaces(root, device, inode);

CREATE TABLE known_folders(
  workspace TEXT NOT NULL, folder TEXT NOT NULL, stamp TEXT NOT NULL, unlisted INTEGER NOT NULL, entries TEXT NOT NULL,
  PRIMARY KEY(workspace, folder)) STRICT, WITHOUT ROWID;
CREATE TABLE sealed_paths(workspace TEXT NOT NULL, path TEXT NOT NULL, PRIMARY KEY(workspace, path)) STRICT, WITHOUT ROWID;

CREATE TABLE turns(
  id TEXT PRIMARY KEY, workspace TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT, key TEXT,
  agent_name TEXT, agent_version TEXT, prompt TEXT, last_message TEXT, label TEXT, task TEXT,
  started_at TEXT NOT NULL, ended_at TEXT, end_reason TEXT, is_open INTEGER NOT NULL, pinned INTEGER NOT NULL DEFAULT 0,
  begin_scan INTEGER NOT NULL, end_scan INTEGER, head_before TEXT, head_after TEXT, branch TEXT, operation TEXT,
  paths TEXT, late_start INTEGER NOT NULL, late_end INTEGER NOT NULL DEFAULT 0, incomplete TEXT,
  last_event_ms INTEGER, tools_in_flight INTEGER NOT NULL DEFAULT 0, agent_pid INTEGER,
  entries INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL DEFAULT 0, changed INTEGER NOT NULL DEFAULT 0, deleted INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE UNIQUE INDEX turns_by_number ON turns(workspace, number);
CREATE INDEX turns_open ON turns(workspace) WHERE is_open = 1;

CREATE TABLE changes(
  workspace TEXT NOT NULL, path TEXT NOT NULL, scan INTEGER NOT NULL, turn TEXT NOT NULL, source TEXT NOT NULL,
  shared_by TEXT, before TEXT NOT NULL, after TEXT NOT NULL,
  PRIMARY KEY(workspace, path, scan)) STRICT, WITHOUT ROWID;
CREATE INDEX changes_by_scan ON changes(workspace, scan);

CREATE TABLE events(
  turn TEXT NOT NULL, at_ms INTEGER NOT NULL, type TEXT NOT NULL, tool TEXT, command TEXT, paths TEXT NOT NULL,
  next_scan INTEGER NOT NULL) STRICT;
CREATE INDEX events_by_turn ON events(turn);

CREATE TABLE envelopes(
  turn TEXT PRIMARY KEY, workspace TEXT NOT NULL, seq INTEGER NOT NULL, prev TEXT, sha256 TEXT NOT NULL,
  zstd BLOB NOT NULL, pushed_at TEXT, parked TEXT) STRICT;
CREATE UNIQUE INDEX envelopes_by_seq ON envelopes(workspace, seq);
CREATE INDEX envelopes_unpushed ON envelopes(workspace, seq) WHERE pushed_at IS NULL;

CREATE TABLE restores(
  turn TEXT PRIMARY KEY, workspace TEXT NOT NULL, scan INTEGER NOT NULL, detail TEXT NOT NULL, report TEXT NOT NULL) STRICT;
CREATE INDEX restores_by_scan ON restores(workspace, scan);
CREATE TABLE reports(
  restore TEXT PRIMARY KEY, workspace TEXT NOT NULL, turn TEXT, report TEXT NOT NULL, made_at TEXT NOT NULL,
  pushed_at TEXT) STRICT;
CREATE TABLE journal(workspace TEXT PRIMARY KEY, restore TEXT NOT NULL, plan TEXT NOT NULL, started_at TEXT NOT NULL) STRICT;
CREATE TABLE plans(
  token TEXT PRIMARY KEY, workspace TEXT NOT NULL, restore TEXT, request TEXT NOT NULL, plan TEXT NOT NULL,
  created_ms INTEGER NOT NULL, used_ms INTEGER) STRICT;
CREATE TABLE leases(
  workspace TEXT PRIMARY KEY, pid INTEGER NOT NULL, started TEXT NOT NULL, boot TEXT NOT NULL, purpose TEXT NOT NULL) STRICT;

CREATE TABLE packs(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL) STRICT;
CREATE TABLE blobs(
  id TEXT PRIMARY KEY, pack INTEGER NOT NULL, at INTEGER NOT NULL, codec INTEGER NOT NULL, size INTEGER NOT NULL,
  stored INTEGER NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`,
  // A turn's manifest says how many files there are and what was left out, without reading the whole known tree.
  `
ALTER TABLE known_folders ADD COLUMN files INTEGER NOT NULL DEFAULT 0;
ALTER TABLE known_folders ADD COLUMN skipped TEXT;
UPDATE known_folders SET files = (SELECT COUNT(*) FROM json_each(entries) WHERE value ->> 1 = 'f');
UPDATE known_folders SET skipped = (
  SELECT json_group_array(json_patch(json_patch(
      json_object('path', CASE folder WHEN '' THEN value ->> 0 ELSE folder || '/' || (value ->> 0) END, 'reason', value ->> 2),
      CASE WHEN (value ->> 6) ->> '$.below' IS NOT NULL
        THEN json_object('sizeBytes', (value ->> 6) ->> '$.below.sizeBytes', 'count', (value ->> 6) ->> '$.below.count')
        ELSE '{}' END),
      CASE WHEN (value ->> 6) ->> '$.below' IS NULL AND value ->> 4 >= 0 THEN json_object('sizeBytes', value ->> 4) ELSE '{}' END))
    FROM json_each(entries) WHERE value ->> 1 = 's')
  WHERE EXISTS (SELECT 1 FROM json_each(entries) WHERE value ->> 1 = 's');
UPDATE known_folders SET skipped = json_insert(COALESCE(skipped, '[]'), '$[#]', json_object('path', folder, 'reason', 'unreadable'))
  WHERE unlisted = 1 AND folder <> '';
CREATE INDEX known_folders_skipped ON known_folders(workspace) WHERE skipped IS NOT NULL;
`,
  // Small blobs lie together in blocks, changed ones as deltas against `base`; a first capture that is cut off goes on.
  `
ALTER TABLE blobs ADD COLUMN inner INTEGER;
ALTER TABLE blobs ADD COLUMN base TEXT;
ALTER TABLE blobs ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
CREATE TABLE blocks(
  pack INTEGER NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL, stored INTEGER NOT NULL,
  PRIMARY KEY(pack, at)) STRICT, WITHOUT ROWID;
CREATE TABLE first_reads(
  workspace TEXT NOT NULL, folder TEXT NOT NULL, entries TEXT NOT NULL,
  PRIMARY KEY(workspace, folder)) STRICT, WITHOUT ROWID;
`,
  // Retention: when a blob was listed, and since when nobody names it; what is left of turns that were removed.
  `
ALTER TABLE blobs ADD COLUMN listed_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blobs ADD COLUMN condemned_ms INTEGER;
ALTER TABLE blobs ADD COLUMN crc INTEGER;
ALTER TABLE blocks ADD COLUMN crc INTEGER;
CREATE INDEX blobs_by_pack ON blobs(pack, at);
CREATE INDEX blobs_by_base ON blobs(base) WHERE base IS NOT NULL;
CREATE INDEX blobs_condemned ON blobs(condemned_ms) WHERE condemned_ms IS NOT NULL;
CREATE TABLE gaps(
  workspace TEXT PRIMARY KEY, scan INTEGER NOT NULL, seq INTEGER NOT NULL, sha256 TEXT, made_at TEXT NOT NULL) STRICT;
CREATE TABLE removed_turns(
  turn TEXT PRIMARY KEY, workspace TEXT NOT NULL, number INTEGER NOT NULL, kind TEXT NOT NULL, session TEXT,
  begin_scan INTEGER NOT NULL, is_undone INTEGER NOT NULL, head_after TEXT, branch TEXT) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX removed_turns_by_number ON removed_turns(workspace, number);
CREATE TABLE listings(
  turn TEXT PRIMARY KEY, workspace TEXT NOT NULL, scan INTEGER NOT NULL, undone_by TEXT, undone_number INTEGER,
  undone TEXT, zstd BLOB NOT NULL) STRICT;
`,
  // Which process an agent is; turns that began without a look at the tree; what a late begin came too late for.
  `
ALTER TABLE turns ADD COLUMN agent_started TEXT;
ALTER TABLE turns ADD COLUMN boot TEXT;
ALTER TABLE turns ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN missed TEXT;
CREATE INDEX turns_of_session ON turns(workspace, session, number);
`,
  // Which blocks gc made of cold blobs: they are not made anew.
  `
ALTER TABLE blocks ADD COLUMN solid INTEGER NOT NULL DEFAULT 0;
`,
  // Of removed turns, what a stub says in their place and what their chain is checked by.
  `
ALTER TABLE removed_turns ADD COLUMN seq INTEGER;
ALTER TABLE removed_turns ADD COLUMN prev TEXT;
ALTER TABLE removed_turns ADD COLUMN sha256 TEXT;
ALTER TABLE removed_turns ADD COLUMN pushed_at TEXT;
CREATE INDEX removed_turns_unpushed ON removed_turns(workspace, seq) WHERE pushed_at IS NULL AND seq IS NOT NULL;
`,
  // What tools wrote outside of the tree: no restore gives that back, and it is told so.
  `
ALTER TABLE events ADD COLUMN outside TEXT;
`,
  // Who holds a lease in another PID namespace, as in a container, can not be looked for by its number.
  `
ALTER TABLE leases ADD COLUMN space TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN seen_ms INTEGER NOT NULL DEFAULT 0;
`,
  // Reports that wait to be sent are looked for whenever something was written; each is long.
  `
CREATE INDEX reports_unpushed ON reports(made_at, restore) WHERE pushed_at IS NULL;
`,
  // The number of an agent in another PID namespace, as in a container, says nothing here.
  `
ALTER TABLE turns ADD COLUMN agent_space TEXT NOT NULL DEFAULT '';
`,
  // What an agent's adapter tells of a turn beside its events.
  `
ALTER TABLE turns ADD COLUMN agent_model TEXT;
ALTER TABLE turns ADD COLUMN transcript TEXT;
ALTER TABLE turns ADD COLUMN interrupted_ms INTEGER;
ALTER TABLE turns ADD COLUMN told_scan INTEGER;
ALTER TABLE turns ADD COLUMN queued TEXT;
CREATE TABLE checklist_news(
  turn TEXT NOT NULL, at_ms INTEGER NOT NULL, is_whole INTEGER NOT NULL, items TEXT NOT NULL) STRICT;
CREATE INDEX checklist_news_by_turn ON checklist_news(turn);
`,
]
