import ModelComparison
import ReferenceModel
import StrataLog
import StrataModel
import StrataStore

/// Members who leave or are removed while they save.
///
/// The log has the order in which the requests were judged: the model follows it, and must come to the same answers. A
/// request without a commit, and whatever was read, must fit a state between the question and the answer.
extension SharedHistory {
    private typealias Outcome = SharedRace.Outcome

    private struct Written {
        let operation: String
        let commit: Commit
    }

    mutating func race() throws {
        guard let meeting = generator.meeting(for: reference) else { return try write(generator.next(for: reference)) }
        races += 1
        var threads = meeting.threads.map { steps in
            steps.map { SharedRace.Question.write($0, translated($0.request)) }
        }
        if reference.readers.contains(meeting.member) { threads.append(questions(of: meeting)) }
        let (start, before) = (store.log.end.offset, reference.state)
        var outcomes = try SharedRace.run(threads, named: "race\(races)", store)
        operations += outcomes.count
        if fault == .misanswering { misanswer(&outcomes) }
        let written = try written(after: start)
        try check(outcomes, written)
        var models = [reference]
        for entry in written {
            try follow(entry, outcomes)
            models.append(reference)
        }
        for outcome in outcomes where !written.contains(where: { $0.operation == outcome.operation }) {
            let first = written.count { $0.commit.offset <= outcome.offsets.lowerBound }
            let last = written.count { $0.commit.offset <= outcome.offsets.upperBound }
            try place(outcome, models[first...last], meeting)
        }
        try compareChanged(since: before)
        for outcome in outcomes { try followFeed(outcome, meeting) }
    }

    /// What the member reads meanwhile, each as one state.
    private mutating func questions(of meeting: RequestGenerator.Meeting) -> [SharedRace.Question] {
        let actor = Actor(user: meeting.member, device: "reader")
        let zone = reference.zone(meeting.zone)
        let home = reference.state.databases[DatabaseID(.private, owner: meeting.zone.owner)]
        let names = home?.zones[meeting.zone.name]?.records.keys.sorted() ?? []
        let ids = names.prefix(reference.limits.itemsPerRequest).map { RecordID($0.text, zone: zone) }
        return (0..<2 + dice.next(below: 4)).map { _ in
            dice.next(below: 2) == 0 ? .fetch(ids, actor) : .feed(zone, actor)
        }
    }

    private func misanswer(_ outcomes: inout [Outcome]) {
        for index in outcomes.indices {
            guard case .done(_, offset: _?) = outcomes[index].answer else { continue }
            outcomes[index].answer = .refused(Refusal(.zoneNotFound, "the canary's answer"))
            return
        }
    }

    // MARK: The log

    private func written(after start: UInt64) throws -> [Written] {
        var written: [Written] = []
        var cursor = try store.log.read(from: start + 1)
        while let commit = try cursor.next() {
            let header = try Envelope(decoding: commit.payload).header
            // The note that a request was refused or changed nothing has the request's operation too.
            guard header.operationID.hasPrefix("race"), !header.isLazy else { continue }
            written.append(Written(operation: header.operationID, commit: commit))
        }
        return written
    }

    /// A request that was answered as done is in the log, once; one that was refused is not.
    private func check(_ outcomes: [Outcome], _ written: [Written]) throws {
        for outcome in outcomes {
            let own = written.filter { $0.operation == outcome.operation }.map(\.commit.offset)
            guard own.count <= 1 else { throw failure(outcome, "is in the log \(own.count) times") }
            switch (outcome.answer, own.first) {
            case (.broken(let text), _): throw failure(outcome, "failed: \(text)")
            case (.done(_, let offset), let own?) where offset != own: throw failure(outcome, "is commit \(own)")
            case (.refused, let own?): throw failure(outcome, "was refused, and is commit \(own)")
            case (.done(_, let offset?), nil):
                // Only what a device asks again is answered with an earlier commit.
                guard outcome.isRepeatable, try store.log.commit(at: offset) != nil else {
                    throw failure(outcome, "was answered as done, and is not in the log")
                }
            default: break
            }
        }
    }

    private func failure(_ outcome: Outcome, _ text: String) -> Divergence {
        Divergence(description: "\(outcome.operation) \(text): \(outcome)")
    }

    /// Lets the model judge the request of a commit, in the order of the log.
    private mutating func follow(_ written: Written, _ outcomes: [Outcome]) throws {
        guard let outcome = outcomes.first(where: { $0.operation == written.operation }),
            case .write(let step, _) = outcome.question, case .done(let result, _) = outcome.answer
        else { throw Divergence(description: "commit \(written.commit.offset) is of \(written.operation)") }
        let before = reference.commitCount
        let expected = Result { () throws(Refusal) in
            try reference.modify(step.request, as: step.actor, time: written.commit.time)
        }
        if reference.commitCount > before { try learnVersions(of: written.commit) }
        try versions.compare(expected, .success(result), step, hasShares: true)
    }

    /// Learns the versions that the model's last commit made, some of which later commits replace before anyone looks.
    private mutating func learnVersions(of commit: Commit) throws {
        var saved: [ReferenceName: [Version]] = [:]
        try commit.payload.withUnsafeBytes { payload in
            for touch in try Envelope.touches(of: payload, where: { $0.kind == .recordSaved }) {
                let version = Version(offset: commit.offset, eventIndex: touch.eventIndex)
                saved[ReferenceName(String(decoding: payload[touch.key], as: UTF8.self)), default: []].append(version)
            }
        }
        var expected: [ReferenceName: [Version]] = [:]
        for zone in reference.state.databases.values.flatMap(\.zones.values) {
            let last = zone.changes.reversed().prefix { $0.version.offset == reference.commitCount }
            for change in last where change.kind == .saved {
                expected[change.record, default: []].append(change.version)
            }
        }
        // Two zones may have records of one name: those of users, whose versions do not matter here.
        for (name, made) in expected where made.count == 1 {
            guard let found = saved[name], found.count == 1 else { continue }
            guard versions.learn(made[0], found[0]) else {
                throw Divergence(description: "\(name) of commit \(commit.offset) has another version")
            }
        }
    }

    // MARK: What has no commit

    /// Finds a state that an outcome fits.
    private func place(
        _ outcome: Outcome, _ models: ArraySlice<ReferenceStore>, _ meeting: RequestGenerator.Meeting
    ) throws {
        var reasons: [String] = []
        for model in models {
            do { return try compare(outcome, model, meeting) } catch { reasons.append("\(error)") }
        }
        throw failure(outcome, "fits none of \(models.count) states: \(reasons.joined(separator: "; "))")
    }

    private func compare(
        _ outcome: Outcome, _ model: ReferenceStore, _ meeting: RequestGenerator.Meeting
    ) throws {
        guard case .write(let step, _) = outcome.question else {
            var wanted = visible(meeting, model)
            if case .fetch(let ids, _) = outcome.question {
                let asked = Set(ids.map { ReferenceName($0.name) })
                wanted = wanted?.filter { asked.contains($0.key) }
            }
            switch outcome.answer {
            // Of an invisible zone nothing is fetched, and there is no feed.
            case .seen(let seen) where seen == wanted ?? (outcome.isFeed ? nil : [:]): return
            case .refused where wanted == nil: return
            default: throw Divergence(description: "the member sees \(wanted as Any)")
            }
        }
        let found: Result<RequestResult, Refusal>
        switch outcome.answer {
        case .done(let result, _): found = .success(result)
        case .refused(let refusal): found = .failure(refusal)
        case .seen, .broken: throw failure(outcome, "has no answer")
        }
        // What is learned from a state that may be another one is not kept.
        let count = model.commitCount
        var (model, table) = (model, versions)
        let expected = Result { () throws(Refusal) in
            try model.modify(step.request, as: step.actor, time: step.time)
        }
        guard model.commitCount == count else { throw Divergence(description: "the model writes") }
        try table.compare(expected, found, step, hasShares: true)
    }

    /// The versions in the store of what the member sees; nil if the zone is not shared with the member.
    private func visible(
        _ meeting: RequestGenerator.Meeting, _ model: ReferenceStore
    ) -> [ReferenceName: Version]? {
        let view = ReferenceSharedView(model.state, user: meeting.member, of: meeting.zone)
        return view.zones[meeting.zone]?.mapValues { versions.store($0.version) }
    }

    // MARK: Feeds

    /// A device that follows a feed from a token of the race ends with exactly what is visible.
    private func followFeed(_ outcome: Outcome, _ meeting: RequestGenerator.Meeting) throws {
        guard case .feed(let zone, let actor) = outcome.question, case .seen(var device) = outcome.answer
        else { return }
        let wanted = visible(meeting, reference)
        var token = outcome.token
        do {
            while true {
                let page = try store.zoneChanges(
                    of: zone, in: DatabaseID(.shared), since: token, limit: 2, as: actor)
                device.merge(SharedRace.versions(of: page.changed)) { $1 }
                if fault != .overlooking {
                    for deletion in page.deleted { device[ReferenceName(deletion.id.name)] = nil }
                }
                token = page.token
                guard page.moreComing else { break }
            }
        } catch let refusal as Refusal {
            // Access that ended and began again; the followers know when exactly.
            let isExpired = refusal.code == .changeTokenExpired
            guard isExpired == (wanted != nil) else { throw failure(outcome, "the feed answers \(refusal)") }
            return
        }
        guard device == wanted else {
            throw failure(outcome, "the device has \(device), and the member sees \(wanted as Any)")
        }
    }
}

extension SharedRace.Outcome {
    fileprivate var isFeed: Bool { if case .feed = question { true } else { false } }

    /// True for a request with a token, which a device may make again.
    fileprivate var isRepeatable: Bool {
        guard case .write(let step, _) = question, case .modifyRecords(let body) = step.request.content else {
            return false
        }
        return body.clientToken != nil
    }
}
