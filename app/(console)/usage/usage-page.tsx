"use client";
import { useSearchParams } from "next/navigation";
import { lazyComponent } from "../_load/lazy-component.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { UsageReport } from "./usage-report.tsx";

const RequestLog = lazyComponent(() => import("./_requests/request-log.tsx"), "RequestLog");

/** What the account has used, and its requests. The tab and what is chosen in it are in the address. */
export function UsagePage() {
  const tab = useSearchParams().get("tab") === "requests" ? "requests" : "usage";
  const show = (next: string) =>
    history.pushState(null, "", next === "requests" ? "/usage?tab=requests" : "/usage");
  return (
    <Page>
      <PageHeader title="Usage" description="Usage, cost and API requests." />
      <Tabs value={tab} onValueChange={show}>
        <TabsList aria-label="Usage or requests">
          <TabsTrigger value="usage">Usage</TabsTrigger>
          <TabsTrigger value="requests">Requests</TabsTrigger>
        </TabsList>
        <TabsContent value="usage">
          <UsageReport />
        </TabsContent>
        <TabsContent value="requests">
          <RequestLog />
        </TabsContent>
      </Tabs>
    </Page>
  );
}
