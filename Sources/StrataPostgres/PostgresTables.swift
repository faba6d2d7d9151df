/// The tables of a store and the statements on them.
///
/// | table | |
/// |---|---|
/// | `strata."NAME"` | an entry in each row: its number, its ID and its bytes |
/// | `strata."NAME.state"` | one row: the format, and the floor, up to which entries were trimmed |
struct PostgresTables: Sendable {
    /// The prepared statements.
    enum Statement: String, CaseIterable, Sendable {
        case append, confirm, notify, page, standbys, state
    }

    static let format: UInt64 = 1
    /// Entries of a page, and about the bytes, after which it ends.
    private static let pageEntries = 10_000
    private static let pageBytes = 4 << 20
    /// Entries that one transaction removes, while no one can append.
    static let trimmedEntries: UInt64 = 10_000

    /// The channel on which confirmed entries are announced.
    let channel: String
    private let entries: String
    private let state: String

    /// - Parameter store: a name that ``PostgresOptions`` has checked, so that quotes suffice.
    init(store: String) {
        channel = "strata.\(store)"
        entries = "strata.\"\(store)\""
        state = "strata.\"\(store).state\""
    }

    /// Returns the text of a prepared statement.
    ///
    /// - Parameter isReplicated: true if a commit waits for standbys.
    func text(of statement: Statement, isReplicated: Bool) -> String {
        switch statement {
        case .append:
            // The number after the last entry, or after the floor. Two that want one number wait for one another, and
            // the second inserts nothing.
            return """
                with added as (
                    insert into \(entries) (number, id, entry) select $1::bigint + 1, $2::uuid, $3::bytea
                    from \(state) as state
                    where state.floor = $1 or exists (select from \(entries) as entries where entries.number = $1)
                    on conflict do nothing returning number)
                select (select number from added), current_setting('synchronous_standby_names')
                """
        case .confirm:
            // The message makes the commit wait for the standbys; it does nothing else. They have
            // then all that the statement saw.
            let message = isReplicated ? "pg_logical_emit_message(true, 'strata', '')" : "null"
            return """
                select greatest((select max(number) from \(entries)), (select floor from \(state))),
                    current_setting('synchronous_standby_names'), \(message)
                """
        case .notify: return "select pg_notify('\(channel)', $1::text), pg_notify('\(channel)', $2::text)"
        case .page:
            return """
                select number, entry, id from \(entries) where number > $1::bigint and number <= coalesce(
                    (select min(number) from (
                        select number, sum(length) over (order by number) as bytes,
                            row_number() over (order by number) as count
                        from (select number, octet_length(entry) as length from \(entries)
                            where number > $1 order by number limit \(Self.pageEntries)) as lengths) as sums
                        where bytes >= \(Self.pageBytes) or count >= \(Self.pageEntries)),
                    \(Int64.max)) order by number
                """
        case .standbys: return "select current_setting('synchronous_standby_names')"
        case .state: return "select floor, format from \(state)"
        }
    }

    /// The question whether the tables are there.
    var existence: String { "select to_regclass('\(state)') is not null" }

    /// The statements that make the tables, in one transaction. Entries are compressed already.
    func creation(withSchema: Bool) -> String {
        """
        \(withSchema ? "create schema if not exists strata;" : "")
        create table \(entries) (
            number bigint primary key check (number > 0), id uuid not null, entry bytea not null);
        alter table \(entries) alter column entry set storage external;
        create table \(state) (
            format bigint not null, floor bigint not null check (floor >= 0),
            single boolean primary key default true check (single));
        insert into \(state) (format, floor) values (\(Self.format), 0)
        """
    }

    static let schemaExistence = "select to_regnamespace('strata') is not null"

    /// The statements that raise the floor and remove the entries up to it, in one transaction.
    ///
    /// The lock waits for appends that have begun and keeps others back: one that began before could otherwise find the
    /// number of a removed entry free.
    func trimming(through number: UInt64) -> String {
        """
        lock table \(entries) in share row exclusive mode;
        update \(state) set floor = \(number) where floor < \(number);
        delete from \(entries) where number <= (select floor from \(state))
        """
    }
}
