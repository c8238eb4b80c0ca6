"use client";
import { Plus } from "lucide-react";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { Button } from "../_ui/button.tsx";
import { Page, PageHeader } from "../_ui/page-header.tsx";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "../_ui/tabs.tsx";
import { HeadlessRuns } from "./headless-runs.tsx";
import { StartRunDialog } from "./start-run-dialog.tsx";
import { TaskRunPanel } from "./task-run-panel.tsx";
import { TaskRuns } from "./task-runs.tsx";

/** What is shown stands in the address, so that it can be kept, sent and gone back from. */
export function RunsPage() {
  const query = useSearchParams();
  const [isStarting, setIsStarting] = useState(false);
  const runId = query.get("runId");
  const tab = query.get("tab") === "agent" ? "agent" : "tasks";
  const show = (next: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams(next).toString();
    // No way to the server: the page is the same.
    history.pushState(null, "", text === "" ? "/runs" : `/runs?${text}`);
  };
  return (
    <Page>
      <PageHeader
        title="Runs"
        description="Work that goes on in the background, whether anybody watches or not."
      >
        <Button onClick={() => setIsStarting(true)}>
          <Plus aria-hidden />
          Start an agent run
        </Button>
      </PageHeader>
      <Tabs value={tab} onValueChange={(next) => show(next === "agent" ? { tab: "agent" } : {})}>
        <TabsList aria-label="Kinds of runs">
          <TabsTrigger value="tasks">Tasks</TabsTrigger>
          <TabsTrigger value="agent">Agent runs</TabsTrigger>
        </TabsList>
        <TabsContent value="tasks">
          <TaskRuns onOpen={(id) => show({ runId: id })} />
        </TabsContent>
        <TabsContent value="agent">
          <HeadlessRuns onStart={() => setIsStarting(true)} />
        </TabsContent>
      </Tabs>
      {runId !== null && <TaskRunPanel key={runId} runId={runId} onClose={() => show({})} />}
      {isStarting && (
        <StartRunDialog
          onClose={() => setIsStarting(false)}
          onStarted={() => {
            setIsStarting(false);
            show({ tab: "agent" });
          }}
        />
      )}
    </Page>
  );
}
