import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport

/// Mutates copies of small stores, one after the other, and judges what can be read then. A copy that gives something
/// wrong is kept.
struct MutationBatch {
    private let settings: BatchSettings
    private let scratch: String
    private var samples: [SampleStore] = []
    private let tool: ToolInProcess

    init(_ words: some Sequence<String>) throws {
        settings = BatchSettings(words)
        scratch = "\(settings.memory)/scratch"
        tool = ToolInProcess()
        try FileManager.default.createDirectory(atPath: scratch, withIntermediateDirectories: true)
        for kind in SampleStore.kinds.indices {
            let path = "\(scratch)/sample-\(kind).strata"
            samples.append(try SampleStore(kind, at: path, scratch: scratch, seed: settings.seed))
        }
        if settings.isCanary { for index in samples.indices { samples[index].falsify() } }
    }

    func run() async throws {
        defer { try? FileManager.default.removeItem(atPath: scratch) }
        try await settings.forEachInput { input in
            var generator = SeededGenerator(seed: settings.seed &+ UInt64(input) &* 0x51_7C_C1)
            try trial(input, &generator)
        }
        Telling.say("done")
    }

    private func trial(_ input: Int, _ generator: inout SeededGenerator) throws {
        let kind = generator.next(below: samples.count)
        let sample = samples[kind]
        let copy = "\(scratch)/copy.strata"
        try? FileManager.default.removeItem(atPath: copy)
        try FileManager.default.copyItem(atPath: sample.path, toPath: copy)
        var mutation = Mutation(of: copy, foreign: samples[(kind + 1) % samples.count].path)
        // The canary's references are wrong, so its copies stay intact: a mutated one might not even open.
        guard try settings.isCanary || mutation.apply(&generator) else { return }
        Telling.count("mutations", 1)
        let kept = "\(settings.folder)/mutated-\(input).strata"
        try? FileManager.default.copyItem(atPath: copy, toPath: kept)
        let what = "input \(input), \(SampleStore.kinds[kind]): \(mutation.text)"
        let isRight = judge(sample, copy, what, &generator)
        if isRight { try? FileManager.default.removeItem(atPath: kept) }
    }

    private func judge(
        _ sample: SampleStore, _ copy: String, _ what: String, _ generator: inout SeededGenerator
    ) -> Bool {
        let report = LogVerifier.verify(at: copy)
        if report.damage == nil, report.end.offset < sample.end {
            Telling.lost("\(what): verify says ok, up to commit \(report.end.offset) of \(sample.end)")
            return false
        }
        for _ in 0..<2 where !runTool(copy, what, &generator) { return false }
        Telling.count("openings", 2)
        guard isSound(sample.read(copy, .readOnly), "\(what): opened for reading") else { return false }
        if report.damage != nil, generator.next(below: 2) == 0 { return repairs(sample, copy, what) }
        return isSound(sample.read(copy, .readWrite), "\(what): opened")
    }

    private func isSound(_ reading: SampleStore.Reading, _ what: String) -> Bool {
        switch reading {
        case .same, .reported: return true
        case .lost(let text): Telling.lost("\(what): \(text)")
        case .wrong(let text): Telling.wrong("\(what): \(text)")
        }
        return false
    }

    /// A repair gives a log that verifies and opens, or says why it cannot.
    private func repairs(_ sample: SampleStore, _ copy: String, _ what: String) -> Bool {
        Telling.count("repairs", 1)
        do {
            let plan = try LogRepair.apply(at: copy)
            guard plan.obstacle == nil else { return true }
            if let damage = LogVerifier.verify(at: copy).damage {
                Telling.wrong("\(what): repaired, and verify says \(damage)")
                return false
            }
            let reading = sample.read(copy, .readWrite, mayBeShorter: true)
            if case .reported(let error) = reading {
                Telling.wrong("\(what): repaired, and it does not open: \(error)")
                return false
            }
            return isSound(reading, "\(what): repaired")
        } catch is StrataError { return true } catch {
            Telling.wrong("\(what): repair fails with \(error)")
            return false
        }
    }

    private func runTool(_ copy: String, _ what: String, _ generator: inout SeededGenerator) -> Bool {
        let words = ToolInProcess.lines[generator.next(below: ToolInProcess.lines.count)]
        let code = tool.run([words[0], copy] + words.dropFirst())
        Telling.count("tool commands", 1)
        if (0...3).contains(code) { return true }
        Telling.wrong("\(what): strata \(words.joined(separator: " ")) ends with \(code)")
        return false
    }
}
