/** Every REST body by its name: the bodies of `routes`, and nothing else. */
import { AccountExport } from './account-export.ts';
import * as audit from './audit.ts';
import * as changes from './changes.ts';
import * as bulk from './bulk.ts';
import * as conversation from './conversation.ts';
import * as acpTokens from './acp-tokens.ts';
import * as desk from './desk.ts';
import * as deviceKeys from './device-keys.ts';
import * as inbox from './inbox.ts';
import * as folders from './folders.ts';
import * as people from './people.ts';
import * as prompts from './prompts.ts';
import * as notificationSettings from './notification-settings.ts';
import * as push from './push.ts';
import { SearchHits } from './search.ts';
import * as queue from './queue.ts';
import * as content from './content.ts';
import * as schedules from './schedules.ts';
import * as settings from './settings.ts';
import * as uploads from './uploads.ts';
import * as usage from './usage.ts';

export const restBodies = {
  Health: people.Health,
  Readiness: people.Readiness,
  Me: people.Me,
  DeleteAccount: people.DeleteAccount,
  AccountExport,
  AuditPage: audit.AuditPage,
  SessionList: conversation.SessionList,
  CreateSession: conversation.CreateSession,
  CreatedSession: conversation.CreatedSession,
  SessionDetail: conversation.SessionDetail,
  UpdateSession: conversation.UpdateSession,
  Session: conversation.Session,
  MessagePage: conversation.MessagePage,
  SendMessage: conversation.SendMessage,
  SentMessage: conversation.SentMessage,
  SentNow: conversation.SentNow,
  AnswerPrompt: prompts.AnswerPrompt,
  AnsweredPrompt: prompts.AnsweredPrompt,
  PromptRefusal: prompts.PromptRefusal,
  GiveAnswer: prompts.GiveAnswer,
  GivenByToken: prompts.GivenByToken,
  CommandList: conversation.CommandList,
  SessionContext: conversation.SessionContext,
  SessionSummary: conversation.SessionSummary,
  ReleaseSession: desk.ReleaseSession,
  ReleasedSession: conversation.ReleasedSession,
  DeskState: desk.DeskState,
  ChangeSessions: bulk.ChangeSessions,
  ChangedSessions: bulk.ChangedSessions,
  MarkRead: conversation.MarkRead,
  CancelSession: conversation.CancelSession,
  SessionSettings: settings.SessionSettings,
  SettingChange: settings.SettingChange,
  AgentSettings: settings.AgentSettings,
  DefaultChange: settings.DefaultChange,
  ItemContent: content.ItemContent,
  ChangeList: changes.ChangeList,
  FileDiff: changes.FileDiff,
  FileList: changes.FileList,
  FilePiece: changes.FilePiece,
  CancelledTask: conversation.CancelledTask,
  SessionQueue: queue.SessionQueue,
  ChangeQueued: queue.ChangeQueued,
  LaterList: queue.LaterList,
  CreateSchedule: schedules.CreateSchedule,
  ChangeSchedule: schedules.ChangeSchedule,
  Schedule: schedules.Schedule,
  ScheduleRun: schedules.ScheduleRun,
  ScheduleRuns: schedules.ScheduleRuns,
  ScheduleTimes: schedules.ScheduleTimes,
  Task: conversation.Task,
  DeviceList: people.DeviceList,
  UpdateDevice: people.UpdateDevice,
  ChangeContinue: people.ChangeContinue,
  Device: people.Device,
  FolderList: folders.FolderList,
  SearchHits,
  DeviceUsage: usage.DeviceUsage,
  DevicePing: people.DevicePing,
  SendFile: uploads.SendFile,
  FileState: uploads.FileState,
  ConnectionList: people.ConnectionList,
  RequestCode: people.RequestCode,
  DeviceCode: people.DeviceCode,
  PollCode: people.PollCode,
  DeviceCredential: people.DeviceCredential,
  PollErrorResponse: people.PollErrorResponse,
  CodeDetail: people.CodeDetail,
  CodeApproved: people.CodeApproved,
  CodeDenied: people.CodeDenied,
  CreateDeviceKey: deviceKeys.CreateDeviceKey,
  CreatedDeviceKey: deviceKeys.CreatedDeviceKey,
  DeviceKeyList: deviceKeys.DeviceKeyList,
  CreateAcpToken: acpTokens.CreateAcpToken,
  CreatedAcpToken: acpTokens.CreatedAcpToken,
  AcpTokenList: acpTokens.AcpTokenList,
  WatchList: people.WatchList,
  WatchRequest: people.WatchRequest,
  WatchState: people.WatchState,
  NotificationList: people.NotificationList,
  NotificationSettings: notificationSettings.NotificationSettings,
  SaveNotificationSettings: notificationSettings.SaveNotificationSettings,
  PushConfig: push.PushConfig,
  SubscriptionList: push.SubscriptionList,
  AddSubscription: push.AddSubscription,
  AddedSubscription: push.AddedSubscription,
  Subscription: push.Subscription,
  ChangeSubscription: push.ChangeSubscription,
  TestStarted: push.TestStarted,
  RotatedSecret: push.RotatedSecret,
  Delivery: push.Delivery,
  Inbox: inbox.Inbox,
  InboxState: inbox.InboxState,
  AckItems: inbox.AckItems,
  SnoozeItem: inbox.SnoozeItem,
  Ticket: people.Ticket,
  ErrorResponse: people.ErrorResponse,
} as const;
