import { BriefcaseBusiness, Hash, Inbox, Plug } from "lucide-react";
import type { ComponentType } from "react";
import airtable from "./_logos/airtable.svg";
import discord from "./_logos/discord.svg";
import dropbox from "./_logos/dropbox.svg";
import github from "./_logos/github.svg";
import gmail from "./_logos/gmail.svg";
import googlecalendar from "./_logos/googlecalendar.svg";
import googledocs from "./_logos/googledocs.svg";
import googledrive from "./_logos/googledrive.svg";
import googlesheets from "./_logos/googlesheets.svg";
import hubspot from "./_logos/hubspot.svg";
import instagram from "./_logos/instagram.svg";
import mailchimp from "./_logos/mailchimp.svg";
import notion from "./_logos/notion.svg";
import soundcloud from "./_logos/soundcloud.svg";
import tiktok from "./_logos/tiktok.svg";
import x from "./_logos/x.svg";
import youtube from "./_logos/youtube.svg";

/** The services that the page suggests. Any other is connected by its short name. */

export type KnownConnector = ReturnType<typeof connector>;

/** The logos of services, or a drawing where the collection has none. */
const icons: Readonly<Record<string, ConnectorIcon>> = {
  youtube: logo(youtube, "#FF0000"),
  instagram: logo(instagram, "#FF0069"),
  tiktok: logo(tiktok),
  soundcloud: logo(soundcloud, "#FF5500"),
  twitter: logo(x),
  mailchimp: logo(mailchimp),
  gmail: logo(gmail, "#EA4335"),
  outlook: Inbox,
  slack: Hash,
  discord: logo(discord, "#5865F2"),
  googlecalendar: logo(googlecalendar, "#4285F4"),
  linkedin: BriefcaseBusiness,
  hubspot: logo(hubspot, "#FF7A59"),
  googledrive: logo(googledrive, "#4285F4"),
  dropbox: logo(dropbox, "#0061FF"),
  googlesheets: logo(googlesheets, "#34A853"),
  googledocs: logo(googledocs, "#4285F4"),
  notion: logo(notion),
  airtable: logo(airtable, "#18BFFF"),
  github: logo(github),
};

/** @param text what an agent can do with it, in the words of the trade */
const connector = (slug: string, name: string, text: string) => ({
  ...{ slug, name, text, icon: icons[slug] ?? Plug },
});

export const groups = [
  {
    title: "Audience and video",
    connectors: [
      connector("youtube", "YouTube", "Read channel figures, upload videos and answer comments."),
      connector("instagram", "Instagram", "Publish posts and read how they did."),
      connector("tiktok", "TikTok", "Publish clips and read their figures."),
      connector("soundcloud", "SoundCloud", "Manage tracks and playlists."),
      connector("twitter", "X", "Post news and read replies."),
      connector("mailchimp", "Mailchimp", "Draft and send fan newsletters."),
    ],
  },
  {
    title: "Mail and team",
    connectors: [
      connector("gmail", "Gmail", "Find promoters’ mails, draft answers and send them."),
      connector("outlook", "Outlook", "Read and write mail."),
      connector("slack", "Slack", "Report to a channel and read it."),
      connector("discord", "Discord", "Write to the fan community."),
      connector("googlecalendar", "Google Calendar", "Plan release dates, sessions and shows."),
      connector("linkedin", "LinkedIn", "Publish company news."),
      connector("hubspot", "HubSpot", "Keep contacts of venues, press and partners."),
    ],
  },
  {
    title: "Files and tables",
    connectors: [
      connector("googledrive", "Google Drive", "Find contracts, artwork and masters."),
      connector("dropbox", "Dropbox", "Read and store files."),
      connector("googlesheets", "Google Sheets", "Read royalty statements and write budgets."),
      connector("googledocs", "Google Docs", "Write press texts."),
      connector("notion", "Notion", "Keep release plans."),
      connector("airtable", "Airtable", "Read and write tables."),
      connector("github", "GitHub", "Read and change repositories."),
    ],
  },
];

const known = new Map(
  groups.flatMap(({ connectors }) => connectors).map((connector) => [connector.slug, connector]),
);

/** Returns what is known of a service; of others, their short name. */
export const connectorOf = (slug: string): KnownConnector =>
  known.get(slug) ?? connector(slug, slug, "");

type ConnectorIcon = ComponentType<{ readonly className?: string }>;

/**
 * Returns a component that draws a logo, as a decoration beside the name.
 *
 * @param svg a file of `_logos`, which is from Simple Icons (CC0): one path in a square of 24
 * @param color of the brand. Default: the text's, for brands whose own is black or too pale on one of the grounds
 */
function logo(svg: string, color = "currentColor"): ConnectorIcon {
  const path = / d="([^"]+)"/.exec(svg)?.[1];
  return ({ className }) => (
    <svg aria-hidden className={className} viewBox="0 0 24 24" fill={color}>
      <path d={path} />
    </svg>
  );
}
