import CloudKit
import StrataModel

/// Carries out the steps of a plan through CloudKit.
struct CloudWriter: Sendable {
    let store: CloudStore
    let content: WriterContent
    /// Where files of assets are made.
    let folder: String

    func perform(_ step: WriterPlan.Step, number: Int) async throws {
        let container = store.container(user: content.user, device: "d\(content.writer)")
        let database = container.privateCloudDatabase
        switch step {
        case .modify(let saves, let deletes): try await modify(saves, deletes, database)
        case .saveZone(let name): _ = try await database.save(CKRecordZone(zoneName: name))
        case .deleteZone(let name):
            _ = try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: name))
        case .subscribe(let id):
            _ = try await database.save(
                CKRecordZoneSubscription(zoneID: CKRecordZone.ID(zoneName: id), subscriptionID: id))
        case .unsubscribe(let id): _ = try await database.deleteSubscription(withID: id)
        case .increment: try await increment()
        case .erase(let id):
            try store.console.erase([recordID(id)], in: .private, of: content.user, reason: "asked for")
        case .resetKeys: try store.console.resetEncryptedData(of: content.user)
        case .compact(let kept):
            let end = store.durableOffset
            do {
                try store.console.compact(before: end > UInt64(kept) ? end - UInt64(kept) : 1)
            } catch let error as CKError where error.code == .invalidArguments {
                // There may be nothing left that could be compacted.
            }
        default: try store.sync()
        }
    }

    private func recordID(_ id: StrataModel.RecordID) -> CKRecord.ID {
        CKRecord.ID(recordName: id.name, zoneID: CKRecordZone.ID(zoneName: id.zone.name))
    }

    private func modify(
        _ saves: [WriterPlan.Save], _ deletes: [StrataModel.RecordID], _ database: CKDatabase
    ) async throws {
        let records = try saves.map { save in
            let record = CKRecord(recordType: "Note", recordID: recordID(save.id))
            record["number"] = save.item.number
            record["text"] = content.text(save.item.number, of: save.id.name)
            if let number = save.item.sealed { record.encryptedValues["sealed"] = content.sealed(number) }
            if let link = save.item.link {
                let target = StrataModel.RecordID(link, zone: save.id.zone)
                record["link"] = CKRecord.Reference(recordID: recordID(target), action: .deleteSelf)
            }
            if let number = save.item.asset {
                let url = URL(fileURLWithPath: "\(folder)/asset-\(content.writer)-\(save.id.name)")
                try Data(content.asset(number)).write(to: url)
                record["asset"] = CKAsset(fileURL: url)
            }
            return record
        }
        let results = try await database.modifyRecords(
            saving: records, deleting: deletes.map(recordID), savePolicy: .changedKeys, atomically: true)
        for result in results.saveResults.values { _ = try result.get() }
        for result in results.deleteResults.values { _ = try result.get() }
        for save in saves where save.item.asset != nil {
            unlink("\(folder)/asset-\(content.writer)-\(save.id.name)")
        }
    }

    private func increment() async throws {
        let container = store.container(user: WriterContent.counterUser, device: "d\(content.writer)")
        let database = container.privateCloudDatabase
        let id = CKRecord.ID(recordName: WriterContent.counterName)
        while true {
            let record: CKRecord
            do { record = try await database.record(for: id) } catch let error as CKError
                where error.code == .unknownItem
            {
                record = CKRecord(recordType: "Counter", recordID: id)
            }
            record["count"] = (record["count"] as? Int ?? 0) + 1
            do {
                _ = try await database.save(record)
                return
            } catch let error as CKError where error.code == .serverRecordChanged {
                continue
            }
        }
    }
}
