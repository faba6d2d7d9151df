import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// In which order what waits is judged (B206, B269).
@Suite struct SubmissionQueueTests {
    private typealias Quality = EnvelopeHeader.QualityOfService

    private static let all: [Quality] = [.default, .background, .utility, .userInitiated, .userInteractive]

    private static func submission(
        _ quality: EnvelopeHeader.QualityOfService, _ name: String, as user: String = "anna"
    ) -> Submission {
        let request = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        return Submission(
            request, as: Actor(user: user), OperationInfo(id: name, qualityOfService: quality),
            reply: .ticket(Ticket<Answer>()))
    }

    private static func names(_ submissions: [Submission]) -> [String] { submissions.map(\.operation.id) }

    private func queue(_ qualities: [EnvelopeHeader.QualityOfService]) -> SubmissionQueue {
        var queue = SubmissionQueue()
        for (index, quality) in qualities.enumerated() { queue.append(Self.submission(quality, "\(quality)-\(index)")) }
        return queue
    }

    @Test func `higher qualities go first, each in the order of its coming`() {
        var queue = queue(Self.all + Self.all)
        #expect(queue.count == 10)
        let names = Self.names(queue.take(byteCount: .max))
        #expect(
            names == [
                "user-interactive-4", "user-interactive-9", "user-initiated-3", "user-initiated-8", "default-0",
                "utility-2", "default-5", "utility-7", "background-1", "background-6",
            ])
        #expect(queue.isEmpty && queue.count == 0 && queue.byteCount == 0)
        #expect(queue.take(byteCount: .max).isEmpty)
    }

    @Test func `nobody waits for ever, however much comes that is more urgent`() {
        var queue = queue([.background, .utility, .userInitiated])
        var taken: [String] = []
        for round in 0..<40 {
            queue.append(Self.submission(.userInteractive, "urgent-\(round)"))
            taken += Self.names(queue.take(byteCount: 0))
        }
        #expect(taken.count == 40)
        for name in ["background-0", "utility-1", "user-initiated-2"] {
            #expect((taken.firstIndex(of: name) ?? .max) < 10, "\(name)")
        }
        #expect(taken.first == "urgent-0")
        // All that is urgent comes in its own order.
        let urgent = taken.filter { $0.hasPrefix("urgent") }
        #expect(urgent == (0..<37).map { "urgent-\($0)" })
    }

    @Test func `the urgent are passed over only now and then`() {
        var queue = SubmissionQueue()
        var counts: [EnvelopeHeader.QualityOfService: Int] = [:]
        for _ in 0..<200 {
            for quality in [Quality.userInteractive, .background] { queue.append(Self.submission(quality, "")) }
            for submission in queue.take(byteCount: 0) {
                counts[submission.operation.qualityOfService, default: 0] += 1
            }
        }
        #expect(counts == [.userInteractive: 160, .background: 40])
    }

    @Test func `what is put back goes before what came later`() {
        var queue = queue([.default, .default, .background, .default])
        let taken = queue.take(byteCount: 0) + queue.take(byteCount: 0)
        queue.append(Self.submission(.default, "later"))
        queue.putBack(taken)
        #expect(queue.count == 5)
        #expect(
            Self.names(queue.take(byteCount: .max))
                == ["default-0", "default-1", "default-3", "later", "background-2"])
        #expect(queue.byteCount == 0)
    }

    @Test func `bytes bound what is taken, and are counted`() {
        var queue = queue(Array(repeating: .default, count: 5_000))
        let each = queue.byteCount / 5_000
        #expect(each > 0)
        #expect(queue.take(byteCount: each * 3).count == 3)
        #expect(queue.take(byteCount: each * 3 - 1).count == 2)
        #expect(queue.take(byteCount: 0).count == 1)
        #expect(queue.take(byteCount: each - 1, needsOne: false).isEmpty)
        #expect(queue.take(byteCount: each, needsOne: false).count == 1)
        var left = 4_993
        #expect(queue.count == left && queue.byteCount == each * left)
        while !queue.isEmpty {
            let names = Self.names(queue.take(byteCount: each * 10))
            #expect(names.first == "default-\(5_000 - left)")
            left -= names.count
        }
        #expect(left == 0 && queue.byteCount == 0)
    }

    @Test func `One request is taken from each user in turn`() {
        var queue = SubmissionQueue()
        for user in ["anna", "bert"] {
            for number in 0..<3 { queue.append(Self.submission(.default, "\(user)-\(number)", as: user)) }
        }
        #expect(Self.names(queue.take(byteCount: 0) + queue.take(byteCount: 0)) == ["anna-0", "bert-0"])
        queue.append(Self.submission(.default, "carl-0", as: "carl"))
        queue.append(Self.submission(.userInteractive, "bert-urgent", as: "bert"))
        #expect(
            Self.names(queue.take(byteCount: .max)) == [
                "bert-urgent", "anna-1", "bert-1", "carl-0", "anna-2", "bert-2",
            ])
    }

    @Test func `Nobody waits for more than one turn of each other user`() {
        let users = ["anna", "bert", "carl", "dora"]
        var random = SeededGenerator(seed: 7)
        var queue = SubmissionQueue()
        /// The users who had a turn since each request of bert's came, one at a time.
        var others: [String: Int]?
        for user in users where user != "bert" {
            for number in 0..<64 { queue.append(Self.submission(.default, "\(user)-\(number)", as: user)) }
        }
        var turns = 0
        for round in 0..<5_000 {
            if others == nil, random.next(below: 3) == 0 {
                queue.append(Self.submission(.default, "bert-\(round)", as: "bert"))
                others = [:]
            }
            let taken = queue.take(byteCount: 2_048)
            // Some batches are lost.
            if random.next(below: 5) == 0 {
                queue.putBack(taken)
                continue
            }
            for submission in taken {
                let user = submission.actor.user
                if user == "bert" {
                    #expect(others?.values.allSatisfy { $0 <= 1 } == true, "\(others ?? [:])")
                    others = nil
                    turns += 1
                } else {
                    others?[user, default: 0] += 1
                    queue.append(Self.submission(.default, "\(user)-again", as: user))
                }
            }
        }
        #expect(turns > 500)
    }
}
