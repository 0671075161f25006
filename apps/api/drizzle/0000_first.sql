CREATE TABLE "credentials" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp with time zone,
	"refresh_token_expires_at" timestamp with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "one_time_codes" (
	"hash" "bytea" PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" text,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"token" text NOT NULL,
	"user_id" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "sessions_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"is_admin" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "verifications" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "audit_events" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "audit_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_id" text,
	"action" text NOT NULL,
	"project_id" text,
	"objects" jsonb NOT NULL,
	"facts" jsonb NOT NULL,
	"request_id" text
);
--> statement-breakpoint
CREATE TABLE "enrollments" (
	"id" text PRIMARY KEY NOT NULL,
	"hash" "bytea" NOT NULL,
	"owner_id" text NOT NULL,
	"project_id" text,
	"tries_left" integer NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "machines" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_id" text NOT NULL,
	"default_project_id" text NOT NULL,
	"name" text NOT NULL,
	"public_key" "bytea" NOT NULL,
	"recipient" text NOT NULL,
	"version" text,
	"remote_policy" text,
	"enrolled_at" timestamp with time zone NOT NULL,
	"last_seen_at" timestamp with time zone,
	"link_id" text,
	"online_until" timestamp with time zone,
	"revoked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "request_nonces" (
	"machine_id" text NOT NULL,
	"nonce" text NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	CONSTRAINT "request_nonces_machine_id_nonce_pk" PRIMARY KEY("machine_id","nonce")
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"machine_id" text NOT NULL,
	"project_id" text NOT NULL,
	"root" text NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"head_seq" integer DEFAULT 0 NOT NULL,
	"head_sha256" text,
	"turn_count" bigint DEFAULT 0 NOT NULL,
	"last_turn_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "project_members" (
	"project_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "project_members_project_id_user_id_pk" PRIMARY KEY("project_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"turn_count" bigint DEFAULT 0 NOT NULL,
	"last_turn_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "blobs" (
	"scope" text NOT NULL,
	"id" text NOT NULL,
	"project_id" text NOT NULL,
	"pack_id" text NOT NULL,
	"offset_bytes" bigint NOT NULL,
	"stored_bytes" bigint NOT NULL,
	"size_bytes" bigint NOT NULL,
	"codec" text NOT NULL,
	CONSTRAINT "blobs_scope_id_pk" PRIMARY KEY("scope","id")
);
--> statement-breakpoint
CREATE TABLE "envelopes" (
	"turn" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"machine_id" text NOT NULL,
	"seq" integer NOT NULL,
	"type" text NOT NULL,
	"sha256" text NOT NULL,
	"own_sha256" text NOT NULL,
	"bytes" "bytea" NOT NULL,
	"received_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "packs" (
	"project_id" text NOT NULL,
	"pack_id" text NOT NULL,
	"machine_id" text NOT NULL,
	"size_bytes" bigint NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	CONSTRAINT "packs_project_id_pack_id_pk" PRIMARY KEY("project_id","pack_id")
);
--> statement-breakpoint
CREATE TABLE "commands" (
	"id" text PRIMARY KEY NOT NULL,
	"machine_id" text NOT NULL,
	"restore_id" text,
	"message" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"settled_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "restores" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"machine_id" text NOT NULL,
	"turn_id" text NOT NULL,
	"status" text NOT NULL,
	"request" jsonb,
	"authoriser" jsonb,
	"requested_by_id" text,
	"requested_by" jsonb NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"plan" jsonb,
	"plan_envelope" "bytea",
	"report" jsonb,
	"report_envelope" "bytea",
	"error" jsonb
);
--> statement-breakpoint
CREATE TABLE "turn_entries" (
	"turn_id" text NOT NULL,
	"path" text collate "C" NOT NULL,
	"project_id" text NOT NULL,
	"before" jsonb NOT NULL,
	"after" jsonb NOT NULL,
	"source" text NOT NULL,
	"scan" integer NOT NULL,
	"is_sealed" boolean NOT NULL,
	CONSTRAINT "turn_entries_turn_id_path_pk" PRIMARY KEY("turn_id","path")
);
--> statement-breakpoint
CREATE TABLE "turns" (
	"id" text PRIMARY KEY NOT NULL,
	"place" bigint GENERATED ALWAYS AS IDENTITY (sequence name "turns_place_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"project_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"machine_id" text NOT NULL,
	"seq" integer NOT NULL,
	"number" integer NOT NULL,
	"kind" text NOT NULL,
	"session" text,
	"agent" text,
	"prompt" text,
	"label" text,
	"started_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone NOT NULL,
	"end_reason" text,
	"created" integer NOT NULL,
	"changed" integer NOT NULL,
	"deleted" integer NOT NULL,
	"skipped" integer NOT NULL,
	"sealed" integer NOT NULL,
	"undone" text DEFAULT 'no' NOT NULL,
	"restore_id" text,
	"restore_facts" jsonb,
	"head" jsonb NOT NULL,
	"skipped_paths" jsonb NOT NULL,
	"received_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "credentials" ADD CONSTRAINT "credentials_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "one_time_codes" ADD CONSTRAINT "one_time_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrollments" ADD CONSTRAINT "enrollments_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "enrollments" ADD CONSTRAINT "enrollments_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "machines" ADD CONSTRAINT "machines_owner_id_users_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "machines" ADD CONSTRAINT "machines_default_project_id_projects_id_fk" FOREIGN KEY ("default_project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_machine_id_machines_id_fk" FOREIGN KEY ("machine_id") REFERENCES "public"."machines"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_members" ADD CONSTRAINT "project_members_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "credentials_provider_account" ON "credentials" USING btree ("provider_id","account_id");--> statement-breakpoint
CREATE INDEX "credentials_user" ON "credentials" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "verifications_identifier" ON "verifications" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "audit_events_project" ON "audit_events" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "audit_events_action" ON "audit_events" USING btree ("action","id");--> statement-breakpoint
CREATE INDEX "machines_owner" ON "machines" USING btree ("owner_id");--> statement-breakpoint
CREATE INDEX "machines_default_project" ON "machines" USING btree ("default_project_id");--> statement-breakpoint
CREATE INDEX "request_nonces_seen" ON "request_nonces" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "workspaces_machine" ON "workspaces" USING btree ("machine_id");--> statement-breakpoint
CREATE INDEX "workspaces_project" ON "workspaces" USING btree ("project_id","id");--> statement-breakpoint
CREATE INDEX "project_members_user" ON "project_members" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "envelopes_chain" ON "envelopes" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "envelopes_machine" ON "envelopes" USING btree ("machine_id");--> statement-breakpoint
CREATE INDEX "commands_machine" ON "commands" USING btree ("machine_id","settled_at");--> statement-breakpoint
CREATE INDEX "commands_restore" ON "commands" USING btree ("restore_id");--> statement-breakpoint
CREATE INDEX "restores_project" ON "restores" USING btree ("project_id","created_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "restores_machine" ON "restores" USING btree ("machine_id","created_at");--> statement-breakpoint
CREATE INDEX "restores_expiry" ON "restores" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "turn_entries_project_path" ON "turn_entries" USING btree ("project_id","path");--> statement-breakpoint
CREATE INDEX "turns_project_place" ON "turns" USING btree ("project_id","place" DESC NULLS LAST);--> statement-breakpoint
CREATE UNIQUE INDEX "turns_workspace_seq" ON "turns" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE INDEX "turns_project_session" ON "turns" USING btree ("project_id","session");--> statement-breakpoint
CREATE INDEX "turns_machine" ON "turns" USING btree ("machine_id");