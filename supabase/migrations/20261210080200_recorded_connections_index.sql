-- A notice of the vendor may name the connection alone.
drop index concurrently if exists public.connector_links_connection;
create index concurrently connector_links_connection on public.connector_links (connection_id);
