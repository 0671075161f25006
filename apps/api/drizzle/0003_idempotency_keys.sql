CREATE TABLE "idempotency_keys" (
	"id" "bytea" PRIMARY KEY NOT NULL,
	"request" "bytea" NOT NULL,
	"request_id" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"busy_until" timestamp with time zone NOT NULL,
	"answer" "bytea"
);
--> statement-breakpoint
CREATE INDEX "idempotency_keys_created" ON "idempotency_keys" USING btree ("created_at");