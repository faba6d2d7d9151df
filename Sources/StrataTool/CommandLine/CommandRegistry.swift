/// The commands, in the order in which the help lists them.
enum CommandRegistry {
    /// Commands with a common purpose.
    struct Group: Sendable {
        let title: String
        let commands: [any Command.Type]
    }

    static let groups = [
        Group(
            title: "look at a store and its commits",
            commands: [
                InfoCommand.self, DoctorCommand.self, StatsCommand.self, LogCommand.self, ShowCommand.self,
                UsersCommand.self, ReportCommand.self,
            ]),
        Group(
            title: "look at its state, now or earlier",
            commands: [
                GetCommand.self, RecordsCommand.self, QueryCommand.self, ZonesCommand.self, SubscriptionsCommand.self,
                DeviceCommand.self, FeedCommand.self, TokenCommand.self, SharesCommand.self, AccessCommand.self,
                SchemaCommand.self,
            ]),
        Group(
            title: "find out how that state came about",
            commands: [
                HistoryCommand.self, BlameCommand.self, DiffCommand.self, BisectCommand.self, ExplainCommand.self,
                DebugCommand.self, PlayCommand.self, WhatIfCommand.self, MinimizeCommand.self, ExecCommand.self,
            ]),
        Group(
            title: "look at its files",
            commands: [SegmentsCommand.self, FramesCommand.self, DumpCommand.self, VerifyCommand.self]),
        Group(
            title: "change, copy or repair a store",
            commands: [
                ExportCommand.self, ImportCommand.self, RepairCommand.self, CompactCommand.self, EraseCommand.self,
                RebuildViewsCommand.self,
            ]),
        Group(
            title: "keep a store on several machines",
            commands: [
                CreateCommand.self, JoinCommand.self, ReplicateCommand.self, TrimCommand.self, AssetsCommand.self,
                PromoteCommand.self,
            ]),
        Group(
            title: "the tool itself",
            commands: [HelpCommand.self, ManualCommand.self, CompletionsCommand.self, McpCommand.self]),
    ]

    static let commands: [any Command.Type] = groups.flatMap { $0.commands }

    /// Names that other tools use for these commands.
    private static let aliases = [
        "ls": "'zones' or 'records'", "cat": "'get' or 'show'", "find": "'query'", "fsck": "'verify'",
        "gc": "'compact'",
    ]

    /// Returns a command line in which an earlier name that stands for several words is replaced by these.
    static func spelledOut(_ words: [String]) -> [String] {
        words.first == "determinism" ? ["verify", "--judge"] + words.dropFirst() : words
    }

    static func command(named name: String) throws(UsageError) -> any Command.Type {
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw UsageError("unknown command \(name)", suggestion: suggestion(for: name.lowercased()))
    }

    private static func suggestion(for word: String) -> String? {
        let names = commands.map { $0.name } + ["version"]
        if let alias = aliases[word] { return alias }
        let begun = word.isEmpty ? [] : names.filter { $0.hasPrefix(word) }
        guard begun.isEmpty else { return begun.joined(separator: " or ") }
        return Suggestion.closest(to: word, among: names)
    }
}
