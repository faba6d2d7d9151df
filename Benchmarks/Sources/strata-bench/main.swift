import Glibc

// Runs workloads and compares them with their peers; `--help` says how.
do {
    if CommandLine.arguments.dropFirst().first == FollowerProcess.word {
        try FollowerProcess.run(Array(CommandLine.arguments.dropFirst(2)))
        exit(0)
    }
    if CommandLine.arguments.dropFirst().first == ToolMeter.word {
        try ToolMeter.run(Array(CommandLine.arguments.dropFirst(2)))
        exit(0)
    }
    if CommandLine.arguments.dropFirst().first == WriterProcess.word {
        try WriterProcess.run(Array(CommandLine.arguments.dropFirst(2)))
        exit(0)
    }
    if CommandLine.arguments.dropFirst().first == ObserverProcess.word {
        try ObserverProcess.run(Array(CommandLine.arguments.dropFirst(2)))
        exit(0)
    }
    if CommandLine.arguments.dropFirst().first == SelfCheck.word {
        try SelfCheck.run()
        exit(0)
    }
    let arguments = try Arguments(CommandLine.arguments.dropFirst())
    if arguments.showsHelp {
        print(Arguments.help)
        exit(0)
    }
    exit(try Runner(arguments).run() ? 0 : 1)
} catch let error as UsageError {
    printError("strata-bench: \(error.message)\n\n\(Arguments.help)")
    exit(2)
} catch {
    printError("strata-bench: \(error)")
    exit(3)
}
