import StrataModel
import StrataSystem
import TestSupport

/// A client with records of its own, which writes through one process, through another while that is gone, and reads
/// through any.
///
/// Each of its *slots* has at most one operation on its way: one slot for each record, some for the counters that
/// all clients count up, and one for the changes of the client's zone.
final class Client: Sendable {
    private struct Mail {
        var answers: [(number: Int, text: String)] = []
        var mayAsk = true
    }

    let index: Int
    private let slotCount: Int
    private let seed: UInt64
    private let processes: [StoreProcess]
    private let tally: Tally
    private let mail = Monitor(Mail())
    private let hasPhotos: Bool

    static let counterCount = 3
    /// The time for which a slot waits after a failure.
    private static let rest = Duration.milliseconds(100)
    /// The longest wait for the last answers.
    private static let patience = Duration.seconds(60)

    init(_ index: Int, slots: Int, seed: UInt64, hasPhotos: Bool, _ processes: [StoreProcess], _ tally: Tally) {
        (self.index, slotCount, self.seed, self.hasPhotos) = (index, slots, seed, hasPhotos)
        (self.processes, self.tally) = (processes, tally)
    }

    func deliver(_ number: Int, _ text: String) {
        mail.withLock { $0.answers.append((number, text)) }
        mail.notifyAll()
    }

    /// Asks nothing more; ``run()`` returns after the last answer.
    func finish() {
        mail.withLock { $0.mayAsk = false }
        mail.notifyAll()
    }

    func run() {
        var work = ClientWork(index, slots: slotCount, seed: seed, hasPhotos: hasPhotos)
        var home = index % processes.count
        var end: ContinuousClock.Instant?
        while true {
            let (answers, mayAsk) = takeMail()
            for answer in answers {
                switch work.take(answer.number, answer.text) {
                case .acknowledged: tally.noteAcknowledgement()
                case .other: break
                case .wrong: tally.violation("client \(index): \(answer.text)")
                }
            }
            if !mayAsk {
                end = end ?? .now + Self.patience
                if work.waitingCount == 0 { return }
                if let end, end < .now {
                    return tally.violation("client \(index) has no answer to \(work.waitingCount) operations")
                }
                continue
            }
            let usual = index % processes.count
            if processes[usual].isReady {
                home = usual
            } else if home == usual || !processes[home].isReady {
                home = work.generator.next(below: processes.count)
            }
            let lists = work.nextOperations(home: home, processes.count, at: .now)
            for (process, operations) in lists.enumerated() where !operations.isEmpty {
                if !processes[process].send(operations) { work.takeBack(operations, until: .now + Self.rest) }
            }
        }
    }

    private func takeMail() -> (answers: [(number: Int, text: String)], mayAsk: Bool) {
        mail.wait(milliseconds: 20) { $0.answers.isEmpty ? nil : () }
        return mail.withLock { mail in
            defer { mail.answers = [] }
            return (mail.answers, mail.mayAsk)
        }
    }
}
