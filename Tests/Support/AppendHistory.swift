import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The attempts of one of several writers to append to a shared log, and their outcomes as its log reported them.
///
/// ```swift
/// let history = try AppendHistory.write(40, to: log, seed: 1)
/// try AppendHistory.check([history], try AppendHistory.commits(of: log))
/// ```
package struct AppendHistory: Sendable {
    /// A commit that was acknowledged, with the position that it expected.
    package struct Acknowledged: Sendable {
        package let id: Identifier
        package let expected: Position
        package let position: Position
    }

    package struct Mismatch: Error {
        package let text: String
        init(_ text: String) { self.text = text }
    }

    package var acknowledged: [Acknowledged] = []
    package var rejected: [Identifier] = []
    package var unsettled: [Identifier] = []

    /// Appends commits, each on the end that the log has then.
    ///
    /// - Parameter isOver: asked before each commit; true ends the writing early.
    package static func write(
        _ count: Int, to log: ReplicatedLog, seed: UInt64, until isOver: () -> Bool = { false }
    ) throws -> AppendHistory {
        let random = SeededRandom(seed: seed)
        var history = AppendHistory()
        for _ in 0..<count {
            if isOver() { break }
            let end = log.end
            let payload = Envelope(events: [Event(.consoleActed, body: random.nextBytes(count: 30)[...])]).encoded()
            // A clock that all share, as far as this goes: the log takes no time that falls.
            let time = (log.endTime ?? 0) + Int64(random.next(below: 3))
            let commit = NewCommit(id: random.nextIdentifier(), time: time, payload: payload[...])
            do throws(AppendFailure) {
                let appended = try log.append([commit], expecting: end)
                history.acknowledged.append(
                    Acknowledged(id: commit.id, expected: end, position: appended.positions[0]))
            } catch {
                switch error {
                case .conflict, .notWritten: history.rejected.append(commit.id)
                case .unknown: history.unsettled.append(commit.id)
                case .tooLarge: throw error
                }
            }
        }
        return history
    }

    package static func commits(of log: ReplicatedLog) throws -> [Commit] {
        var cursor = try log.read(from: 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    /// Checks that each acknowledged commit is in the log once, at its position and directly after the one it was
    /// decided on, and that no rejected one is.
    package static func check(_ histories: [AppendHistory], _ commits: [Commit]) throws {
        var places: [Identifier: Int] = [:]
        for (index, commit) in commits.enumerated() {
            guard commit.offset == UInt64(index) + 1 else { throw Mismatch("\(commit.offset) at place \(index)") }
            guard places.updateValue(index, forKey: commit.id) == nil else { throw Mismatch("\(commit.id) twice") }
        }
        for history in histories {
            for known in history.acknowledged {
                guard let place = places[known.id] else { throw Mismatch("\(known.id) was acknowledged and is lost") }
                let before = place == 0 ? .start : commits[place - 1].position
                guard commits[place].position == known.position, before == known.expected else {
                    throw Mismatch(
                        "\(known.id) is at \(commits[place].position) after \(before), not at \(known.position)")
                }
            }
            for id in history.rejected where places[id] != nil {
                throw Mismatch("\(id) was rejected and is in the log")
            }
        }
    }
}
