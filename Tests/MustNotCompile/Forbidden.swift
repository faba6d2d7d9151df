import CloudKit

// What Apple's CloudKit does not offer: tools/test lets the compiler check that each of these lines is the error that
// stands beside it.

func makeWhatOnlyTheStoreMakes() {
    _ = CKDatabase()  // expected-error {{is inaccessible}} expected-error {{missing arguments}}
    _ = CKContainer()  // expected-error {{missing argument}}
    _ = CKServerChangeToken()  // expected-error {{missing argument}}
    _ = CKQueryOperation.Cursor()  // expected-error {{missing argument}}
    _ = CKSubscription()  // expected-error {{missing argument}}
    _ = CKNotification()  // expected-error {{missing argument}}
    _ = CKNotification.ID()  // expected-error {{missing argument}}
    _ = CKRecord()  // expected-error {{missing argument}}
    _ = CKQuery()  // expected-error {{missing argument}}
    _ = CKAsset()  // expected-error {{missing argument}}
    _ = CKRecordZone()  // expected-error {{missing argument}}
    _ = CKQuerySubscription()  // expected-error {{missing argument}}
    _ = CKRecordZoneSubscription()  // expected-error {{missing argument}}
    _ = CKLocationSortDescriptor()  // expected-error {{missing argument}}
    _ = CKDatabase.DatabaseChange.Modification(zoneID: .default)  // expected-error {{is inaccessible}}
}

class OwnRecord: CKRecord, @unchecked Sendable {}  // expected-error {{inherit}}
class OwnDatabase: CKDatabase {}  // expected-error {{inherit}}
class OwnContainer: CKContainer {}  // expected-error {{inherit}}
class OwnZone: CKRecordZone {}  // expected-error {{inherit}}
class OwnSubscription: CKSubscription, @unchecked Sendable {}  // expected-error {{inherit}}
class OwnNotification: CKNotification, @unchecked Sendable {}  // expected-error {{inherit}}
class OwnOperation: CKOperation, @unchecked Sendable {}  // expected-error {{inherit}}
class OwnDatabaseOperation: CKDatabaseOperation, @unchecked Sendable {}  // expected-error {{inherit}}
class OwnQueryOperation: CKQueryOperation {}  // expected-error {{inherit}}

func changeWhatStays(_ record: CKRecord, _ query: CKQuery, _ id: CKRecord.ID) {
    record.recordChangeTag = "x"  // expected-error {{cannot assign}}
    query.recordType = "x"  // expected-error {{cannot assign}}
    id.recordName = "x"  // expected-error {{cannot assign}}
}

func useWhatSwiftDoesNotHave() {
    _ = CKRecordZoneDefaultName  // expected-error {{has been renamed}}
    _ = CKRecordTypeUserRecord  // expected-error {{has been renamed}}
    _ = CKRecordTypeShare  // expected-error {{has been renamed}}
    _ = CKRecordParentKey  // expected-error {{has been renamed}}
    _ = CKRecordShareKey  // expected-error {{has been renamed}}
}

func keepWhatIsNoValue(_ record: CKRecord) {
    record["link"] = URL(fileURLWithPath: "/")  // expected-error {{cannot assign}}
    record["name"] = UUID()  // expected-error {{requires that 'UUID' conform}}
    record["table"] = ["a": 1]  // expected-error {{cannot assign}}
}
