CREATE TABLE "chain_heads" (
	"workspace_id" text NOT NULL,
	"seq" integer NOT NULL,
	"sha256" text,
	"number" integer NOT NULL,
	"announced_at" timestamp with time zone NOT NULL,
	"bytes" "bytea" NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "chain_heads_workspace_id_seq_pk" PRIMARY KEY("workspace_id","seq")
);
