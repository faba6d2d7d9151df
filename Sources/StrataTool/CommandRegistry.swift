/// The commands, in the order in which the help lists them.
enum CommandRegistry {
    static let commands: [any Command.Type] = [
        InfoCommand.self,
        StatsCommand.self,
        LogCommand.self,
        HistoryCommand.self,
        BlameCommand.self,
        ShowCommand.self,
        ExplainCommand.self,
        SegmentsCommand.self,
        FramesCommand.self,
        DumpCommand.self,
        VerifyCommand.self,
        RepairCommand.self,
        GetCommand.self,
        RecordsCommand.self,
        QueryCommand.self,
        DiffCommand.self,
        BisectCommand.self,
        DebugCommand.self,
        ZonesCommand.self,
        SubscriptionsCommand.self,
        UsersCommand.self,
        DeviceCommand.self,
        FeedCommand.self,
        PlayCommand.self,
        TokenCommand.self,
        SchemaCommand.self,
        WhatIfCommand.self,
        MinimiseCommand.self,
        DeterminismCommand.self,
        ReportCommand.self,
        ExportCommand.self,
        ImportCommand.self,
        CompactCommand.self,
        EraseCommand.self,
        RebuildViewsCommand.self,
        CompletionsCommand.self,
        ManualCommand.self,
        HelpCommand.self,
    ]

    static func command(named name: String) throws(UsageError) -> any Command.Type {
        if let command = commands.first(where: { $0.name == name }) { return command }
        throw UsageError(
            "unknown command \(name)", suggestion: Suggestion.closest(to: name, among: commands.map { $0.name }))
    }
}
