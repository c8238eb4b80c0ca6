import { createClient } from "@supabase/supabase-js";

const db = createClient(process.env.SUPABASE_URL ?? "", process.env.SUPABASE_SECRET_KEY ?? "", {
  auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
});

/** One call of the database and its unchanged answer, without authentication. */
export async function GET(
  request: Request,
  { params }: { params: Promise<{ name: string }> },
): Promise<Response> {
  const { name } = await params;
  const args = new URL(request.url).searchParams.get("args") ?? "{}";
  const { data, error } = await db.rpc(name, JSON.parse(args));
  if (error) return Response.json({ error: error.message }, { status: 500 });
  return Response.json(data);
}
