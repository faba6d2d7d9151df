/// A rule by which a request or one of its items was judged, as docs/rules.md and the tests number it.
public struct ExplanationRule: Sendable, Hashable {
    /// `B53`, or a paragraph of docs/rules.md such as `§5.9`.
    public let number: String
    /// What the rule says.
    public let sentence: String
    /// What it came to here.
    public let finding: String

    init(_ number: String, finding: String = "") {
        self.number = number
        self.finding = finding
        sentence = Self.sentences[number] ?? "See docs/rules.md, \(number)."
    }

    static let sentences: [String: String] = [
        "B3": "A record name has 1 to 255 characters, none of them control characters, and no underscore in front.",
        "B4": "A zone name has 1 to 255 characters, none of them control characters, and no underscore in front.",
        "B6": "A record type is a letter followed by letters, digits and underscores, and a record keeps its type.",
        "B7": "A key is a letter followed by letters, digits and underscores.",
        "B21": "Encrypted values cannot be kept in the public database.",
        "B23": "The first value that is saved for a key of a type binds the kind of all that follow.",
        "B24": "Where the schema is enforced, types and keys must have been declared.",
        "B31": "Custom zones are in private databases only.",
        "B32": "A zone must be saved before a record in it can be.",
        "B35": "A zone that there is not cannot be deleted.",
        "B36": "A zone comes once in a request, and a default zone cannot be deleted.",
        "B38": "Zones are purged, and encrypted data is reset, by the service alone; whoever comes later is told.",
        "B39": "Whether a zone has one key for all its records is said before it is made, and never changed.",
        "B51": "A save is accepted if its tag is the stored one: none, where there is no such record.",
        "B52": "A save without a tag makes a record, and fails where one of that name is stored.",
        "B53": "A save whose tag is not the stored one fails: somebody has changed the record since.",
        "B54": "A save with a tag changes a record, and fails where there is none of that name.",
        "B55": "Under changedKeys, tags are not compared, and keys that were not sent stay as they are.",
        "B56": "Under allKeys, tags are not compared.",
        "B57": "Under changedKeys and allKeys, a save makes the record where there is none.",
        "B61": "A record whose child is saved gets a new change tag.",
        "B65": "A device that repeats the request of its last client token is given the results of then.",
        "B66": "A record comes once in a request, to be saved or to be deleted.",
        "B67": "A request has at most so many items.",
        "B68": "A record, and a request, have at most so many bytes, without assets.",
        "B81": "Where one item of an atomic zone fails, all others of the zone fail with it.",
        "B91": "Deleting a record that is not there succeeds and changes nothing.",
        "B92": "In a zone that there is not nothing can be deleted.",
        "B93": "A reference stays within its zone.",
        "B95": "A record that refers to a deleted one, and is to go with it, goes.",
        "B98": "At most 750 records refer to one record with which they go.",
        "B99": "The parent of a record is stored, or saved in the same request.",
        "B101": "A record that would stay keeps its parent from being deleted.",
        "B102": "A record whose parent's save failed in the same request fails too.",
        "B116": "Records of users are made by the system, changed by their own user, and deleted by nobody.",
        "B121": "Users cannot be queried.",
        "B122": "The predicate of a query subscription is one that queries take.",
        "B142": "Where indexes alone are declared, the type is one that there is.",
        "B180": "The ID of a subscription is a name that is not empty.",
        "B181": "Queries are subscribed to in the public and in private databases, zones in private ones, databases in "
            + "private and shared ones.",
        "B182": "A zone subscription needs a zone whose changes can be fetched.",
        "B183": "A query subscription fires for creations, updates or deletions, for one of them at least.",
        "B184": "A subscription that there is not cannot be deleted.",
        "B185": "What a user has subscribed to is not subscribed to once more under another ID.",
        "B190": "A notification has at most three desired keys.",
        "B220": "Who writes is signed in.",
        "B221": "Who writes has an account that is available.",
        "B222": "In the public database the grants of a type decide; without any, who created a record may change it.",
        "B266": "A zone of another user is none of this database.",
        "§2.1": "The service administers and declares schemas, and nobody else does.",
        "§2.2": "A client token has at most 65,536 bytes.",
        "§2.3": "A request names what it refers to, each key of a save comes once, and names fit into a commit.",
        "§3": "A zone is saved by its owner, under a name that is allowed; deleting one takes all its records.",
        "§5.7": "A type has at most 65,535 keys.",
        "§5.8": "The name of a reference's target has 1 to 255 characters.",
        "§5.9": "A record has at most 65,535 keys, and what a save adds fits into its user's quota.",
        "§7": "A record that is there may be deleted by who may change it.",
        "§9": "What a request changes fits into one commit.",
        "§10": "A schema that fits what is bound already is declared.",
        "§10.1": "Each type of a declaration is a name, comes once, and is known where indexes alone are added.",
        "§10.2": "Each field of a declaration is a key or a system field, and comes once.",
        "§10.3": "A field keeps the kind that it is bound to.",
        "§10.4": "An index is one that the field's kind can have.",
        "§10.5": "A role of a grant is a system role or a name.",
        "§11": "Subscriptions belong to the user who saves them, in a database of theirs.",
        "§12": "What devices have been told is noted by the service.",
        "§13": "Accounts, tokens and erasures are the service's to change.",
    ]
}
