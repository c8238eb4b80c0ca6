/** The inbox of sign-in codes exists on a development server that sends no mail, and nowhere else. */
import { expect, it } from "vitest";
import { hasDeveloperMail } from "../../app/auth/developer/mail/developer-mail.ts";
import { parseConfig } from "../../lib/platform/config.ts";

const development = {
  NODE_ENV: "development",
  EMBEDDED_SUPABASE: "true",
  SUPABASE_URL: "http://127.0.0.1:1",
  DATABASE_URL: "postgres://127.0.0.1:1/none",
  SUPABASE_SECRET_KEY: "x".repeat(40),
  API_KEY_SECRET: "x".repeat(40),
};
const isOpen = (settings: Record<string, string> = {}) =>
  hasDeveloperMail(parseConfig({ ...development, ...settings }));

it("is open in development with the embedded auth and without SMTP", () => {
  expect(isOpen()).toBe(true);
});

it.each([
  ["in production", { NODE_ENV: "production" }],
  ["with SMTP", { SMTP_URL: "smtp://mail.label.example", MAIL_FROM: "no-reply@label.example" }],
  ["with a hosted Supabase", { EMBEDDED_SUPABASE: "false" }],
  ["with another OIDC provider", { OIDC_ISSUER: "https://id.example", OIDC_AUDIENCE: "api" }],
])("is closed %s", (_, settings) => {
  expect(isOpen(settings)).toBe(false);
});
