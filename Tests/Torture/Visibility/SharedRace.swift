import ReferenceModel
import StrataModel
import StrataRules
import StrataStore
import StrataSystem

/// Threads that ask one store at the same time, each its own questions in their order.
struct SharedRace {
    enum Question: Sendable {
        /// A step of the model, and the request that the store gets for it.
        case write(RequestGenerator.Step, Request)
        case fetch([RecordID], Actor)
        case feed(ZoneID, Actor)
    }

    enum Answer: Sendable {
        case done(RequestResult, offset: UInt64?)
        case refused(Refusal)
        case seen([ReferenceName: Version])
        case broken(String)
    }

    struct Outcome: Sendable {
        let question: Question
        /// The ID of the operation, by which the log knows a write.
        let operation: String
        var answer: Answer
        /// The state that was published before the question, and the last commit there was after the answer.
        let offsets: ClosedRange<UInt64>
        /// The token of a feed.
        var token: FeedToken?
    }

    /// - Parameter name: what the operations of this race are called, and those of no other.
    static func run(_ threads: [[Question]], named name: String, _ store: Store) throws -> [Outcome] {
        let outcomes = Lock<[Outcome]>([])
        let gates = threads.map { _ in Gate() }
        let workers = try threads.indices.map { number in
            try WorkerThread(name: "racer-\(number)") {
                gates[number].wait()
                var own: [Outcome] = []
                for (index, question) in threads[number].enumerated() {
                    own.append(ask(question, "\(name)-\(number)-\(index)", store))
                }
                outcomes.withLock { $0 += own }
            }
        }
        for gate in gates { gate.open() }
        for worker in workers { worker.join() }
        return outcomes.withLock { $0 }
    }

    private static func ask(_ question: Question, _ operation: String, _ store: Store) -> Outcome {
        let earliest = store.offset
        var token: FeedToken?
        var answer: Answer
        do {
            switch question {
            case .write(let step, let request):
                let made = try store.modify(request, as: step.actor, operation: OperationInfo(id: operation))
                answer = .done(made.result, offset: made.offset)
            case .fetch(let ids, let actor):
                let records = try store.fetch(ids, in: DatabaseID(.shared), as: actor).compactMap { try? $0.get() }
                answer = .seen(versions(of: records))
            case .feed(let zone, let actor):
                let page = try store.zoneChanges(of: zone, in: DatabaseID(.shared), as: actor)
                token = page.token
                answer = .seen(versions(of: page.changed))
                if page.moreComing || !page.deleted.isEmpty { answer = .broken("the first page is \(page)") }
            }
        } catch let refusal as Refusal { answer = .refused(refusal) } catch { answer = .broken("\(error)") }
        let latest = max(earliest, store.log.end.offset)
        return Outcome(
            question: question, operation: operation, answer: answer, offsets: earliest...latest, token: token)
    }

    static func versions(of records: [Record]) -> [ReferenceName: Version] {
        Dictionary(records.map { (ReferenceName($0.id.name), $0.version) }) { $1 }
    }
}
