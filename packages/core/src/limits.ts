/** Every bound of the formats and of the wire, in one place. Sizes in bytes, times in seconds. */
export const limits = {
  /** A path inside a workspace, as UTF-8 bytes of its written form. */
  pathBytes: 4096,
  /** A symlink's text. */
  symlinkTargetBytes: 4096,
  /** A prompt or a last message kept with a turn; longer ones are cut. */
  promptCharacters: 16_384,
  labelCharacters: 200,
  sessionCharacters: 200,
  /** Files above this are recorded as skipped `too-large`, unless configured otherwise. */
  fileBytes: 64 * 1024 * 1024,
  /** Files above this cannot be captured at all: a frame's length has 32 bits. */
  blobBytes: 0xf000_0000,
  /** A pack holds this much, or exactly one frame. */
  packBytes: 16 * 1024 * 1024,
  /** A turn's signed envelope, compressed, on the wire. */
  envelopeCompressedBytes: 64 * 1024 * 1024,
  /** The same, unpacked: what one turn may make the server hold in memory. */
  envelopeBytes: 512 * 1024 * 1024,
  /** A signed head: a few hundred bytes are enough. */
  headEnvelopeBytes: 4096,
  entriesPerTurn: 500_000,
  /** Paths that a turn names of what it can not give back, per reason; the rest is counted. */
  lossPaths: 20,
  blobIdsPerQuestion: 10_000,
  pageItems: 200,
  pageItemsDefault: 50,
  entriesPerPage: 500,
  /** A frame on a WebSocket, both directions. */
  socketFrameBytes: 64 * 1024,
  /** A made plan can be confirmed this long, by the machine's own clock. */
  planTtlSeconds: 600,
  /** A confirmed restore whose machine does not report for this long is given up by the server. */
  applyTtlSeconds: 3600,
  /** A request waits this long for a machine that is away. */
  queuedTtlSeconds: 86_400,
  /** A request that waited longer than this for its machine is only planned, never applied by itself. */
  queuedRunSeconds: 60,
  remoteRestoresPerHour: 6,
  remoteRestoreFiles: 5_000,
  enrollmentTtlSeconds: 600,
  enrollmentTries: 5,
  /** A restore waits this long for a busy agent to be quiet. */
  busyWaitSeconds: 10,
  /** An agent that an event told of this short a time ago is at work. */
  busyEventSeconds: 10,
  /** An agent waits this long for the look before its turn, and no longer. */
  hookWaitSeconds: 10,
  /** An open turn without any news for this long is given up, when nothing says that its agent is still there. */
  turnIdleSeconds: 1800,
  /** The same when its process lives, or a tool began and did not end; with both it is never given up. */
  turnIdleAtWorkSeconds: 7200,
  /** A command that never reported its end may have written for this long after it began. */
  commandInFlightSeconds: 600,
  signatureSkewSeconds: 300,
} as const
