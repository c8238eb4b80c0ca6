alter table public.media_files validate constraint media_files_name_check;
