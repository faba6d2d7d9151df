import CloudKit
import Foundation
import Glibc
import TestSupport

/// Tries inputs that someone might send who means harm: each gives an answer or a documented error, in bounded time and
/// memory.
struct HostileBatch {
    private static let maximumKibibytes = 1_500_000
    private static let maximumSeconds = 10.0

    private let settings: BatchSettings
    private let engine: EngineInputs
    private let cloud: CloudInputs
    private let files: FileInputs

    init(_ words: some Sequence<String>) throws {
        settings = BatchSettings(words)
        // Arguments of the tool may name files, which are not to be made where the harness was started.
        guard chdir(settings.memory) == 0 else { throw POSIXError(.ENOENT) }
        engine = try EngineInputs()
        cloud = try CloudInputs(settings.folder)
        files = try FileInputs(settings.memory, seed: settings.seed)
    }

    func run() async throws {
        try await settings.forEachInput { input in
            var generator = SeededGenerator(seed: settings.seed &+ UInt64(input) &* 0x51_7C_C1)
            if input == settings.first + 10 { breakDown() }
            Telling.count("inputs", 1)
            let before = Self.usedSeconds()
            do { try await one(input, &generator) } catch {
                Telling.wrong("input \(input): \(type(of: error)): \("\(error)".prefix(400))")
            }
            let seconds = Self.usedSeconds() - before
            if seconds > Self.maximumSeconds { Telling.wrong("input \(input) took \(Int(seconds)) s of the processor") }
        }
        let used = Self.peakKibibytes()
        if used > Self.maximumKibibytes { Telling.wrong("the inputs took \(used / 1_024) MiB of memory") }
        Telling.say("done")
    }

    private func one(_ input: Int, _ generator: inout SeededGenerator) async throws {
        // Once in each round: an expression that takes a matcher for ever.
        if input == 40 { return try engine.slowExpression() }
        switch generator.next(below: 100) {
        case 0..<36: try engine.predicate(&generator)
        case 36..<50: try engine.token(&generator)
        case 50..<60: try engine.cursor(&generator)
        case 60..<68: try engine.names(&generator)
        case 68..<80: try await cloud.predicate(&generator)
        case 80..<92: try cloud.archive(&generator)
        case 92..<94: try await cloud.assetSource(&generator)
        case 94: try cloud.container(&generator)
        case 95: try files.importFile(&generator)
        default: try files.arguments(&generator)
        }
    }

    /// The faults of the canary, which whoever runs this must notice.
    private func breakDown() {
        switch settings.canary {
        case "trap": preconditionFailure("the canary's trap")
        case "hang": while true { sleep(1) }
        default: break
        }
    }

    /// Time of the processor, which does not depend on what else the machine does.
    private static func usedSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func peakKibibytes() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
