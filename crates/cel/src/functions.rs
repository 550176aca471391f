//! The table of functions with their signatures.
//!
//! A signature has the form `receiver.(arguments):result` or `(arguments):result`. The checker
//! selects signatures by the types of arguments; [`crate::call`] dispatches on the actual values.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::types::Type;

macro_rules! functions {
    ($($name:ident $text:literal $($signature:literal)+;)*) => {
        /// A function.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Fun { $($name),* }

        const TABLE: &[(Fun, &str, &[&str])] = &[$((Fun::$name, $text, &[$($signature),+])),*];
    };
}

functions! {
    Not "!_" "(bool):bool";
    Negate "-_" "(int):int" "(double):double";
    Add "_+_" "(int,int):int" "(uint,uint):uint" "(double,double):double" "(string,string):string" "(bytes,bytes):bytes"
        "(list<A>,list<A>):list<A>" "(timestamp,duration):timestamp" "(duration,timestamp):timestamp"
        "(duration,duration):duration";
    Subtract "_-_" "(int,int):int" "(uint,uint):uint" "(double,double):double" "(timestamp,timestamp):duration"
        "(timestamp,duration):timestamp" "(duration,duration):duration";
    Multiply "_*_" "(int,int):int" "(uint,uint):uint" "(double,double):double";
    Divide "_/_" "(int,int):int" "(uint,uint):uint" "(double,double):double";
    Remainder "_%_" "(int,int):int" "(uint,uint):uint";
    Equal "_==_" "(A,A):bool";
    NotEqual "_!=_" "(A,A):bool";
    Less "_<_" "(bool,bool):bool" "(int,int):bool" "(uint,uint):bool" "(double,double):bool" "(int,double):bool"
        "(double,int):bool" "(int,uint):bool" "(uint,int):bool" "(uint,double):bool" "(double,uint):bool"
        "(string,string):bool" "(bytes,bytes):bool" "(timestamp,timestamp):bool" "(duration,duration):bool";
    LessEqual "_<=_" "(bool,bool):bool" "(int,int):bool" "(uint,uint):bool" "(double,double):bool" "(int,double):bool"
        "(double,int):bool" "(int,uint):bool" "(uint,int):bool" "(uint,double):bool" "(double,uint):bool"
        "(string,string):bool" "(bytes,bytes):bool" "(timestamp,timestamp):bool" "(duration,duration):bool";
    Greater "_>_" "(bool,bool):bool" "(int,int):bool" "(uint,uint):bool" "(double,double):bool" "(int,double):bool"
        "(double,int):bool" "(int,uint):bool" "(uint,int):bool" "(uint,double):bool" "(double,uint):bool"
        "(string,string):bool" "(bytes,bytes):bool" "(timestamp,timestamp):bool" "(duration,duration):bool";
    GreaterEqual "_>=_" "(bool,bool):bool" "(int,int):bool" "(uint,uint):bool" "(double,double):bool"
        "(int,double):bool" "(double,int):bool" "(int,uint):bool" "(uint,int):bool" "(uint,double):bool"
        "(double,uint):bool" "(string,string):bool" "(bytes,bytes):bool" "(timestamp,timestamp):bool"
        "(duration,duration):bool";
    In "@in" "(A,list<A>):bool" "(A,map<A,B>):bool";
    Size "size" "(string):int" "(bytes):int" "(list<A>):int" "(map<A,B>):int" "string.():int" "bytes.():int"
        "list<A>.():int" "map<A,B>.():int";
    Contains "contains" "string.(string):bool";
    StartsWith "startsWith" "string.(string):bool";
    EndsWith "endsWith" "string.(string):bool";
    Matches "matches" "string.(string):bool" "(string,string):bool";
    Int "int" "(int):int" "(uint):int" "(double):int" "(string):int" "(timestamp):int";
    Uint "uint" "(int):uint" "(uint):uint" "(double):uint" "(string):uint";
    Double "double" "(int):double" "(uint):double" "(double):double" "(string):double";
    String "string" "(string):string" "(bool):string" "(int):string" "(uint):string" "(double):string"
        "(bytes):string" "(timestamp):string" "(duration):string" "(ip):string" "(cidr):string";
    Bytes "bytes" "(string):bytes" "(bytes):bytes";
    Bool "bool" "(bool):bool" "(string):bool";
    TypeOf "type" "(A):type";
    Dyn "dyn" "(A):dyn";
    Timestamp "timestamp" "(string):timestamp" "(int):timestamp" "(timestamp):timestamp";
    Duration "duration" "(string):duration" "(duration):duration" "(int):duration";
    FullYear "getFullYear" "timestamp.():int" "timestamp.(string):int";
    Month "getMonth" "timestamp.():int" "timestamp.(string):int";
    Date "getDate" "timestamp.():int" "timestamp.(string):int";
    DayOfMonth "getDayOfMonth" "timestamp.():int" "timestamp.(string):int";
    DayOfWeek "getDayOfWeek" "timestamp.():int" "timestamp.(string):int";
    DayOfYear "getDayOfYear" "timestamp.():int" "timestamp.(string):int";
    Hours "getHours" "timestamp.():int" "timestamp.(string):int" "duration.():int";
    Minutes "getMinutes" "timestamp.():int" "timestamp.(string):int" "duration.():int";
    Seconds "getSeconds" "timestamp.():int" "timestamp.(string):int" "duration.():int";
    Milliseconds "getMilliseconds" "timestamp.():int" "timestamp.(string):int" "duration.():int";
    CharAt "charAt" "string.(int):string";
    IndexOf "indexOf" "string.(string):int" "string.(string,int):int" "list<A>.(A):int";
    LastIndexOf "lastIndexOf" "string.(string):int" "string.(string,int):int" "list<A>.(A):int";
    LowerAscii "lowerAscii" "string.():string";
    UpperAscii "upperAscii" "string.():string";
    Replace "replace" "string.(string,string):string" "string.(string,string,int):string";
    Split "split" "string.(string):list<string>" "string.(string,int):list<string>";
    Substring "substring" "string.(int):string" "string.(int,int):string";
    Trim "trim" "string.():string";
    Join "join" "list<string>.():string" "list<string>.(string):string";
    Format "format" "string.(list<dyn>):string";
    Quote "strings.quote" "(string):string";
    Find "find" "string.(string):string";
    FindAll "findAll" "string.(string):list<string>" "string.(string,int):list<string>";
    IsSorted "isSorted" "list<A>.():bool";
    Sum "sum" "list<int>.():int" "list<uint>.():uint" "list<double>.():double" "list<duration>.():duration";
    Min "min" "list<A>.():A";
    Max "max" "list<A>.():A";
    Slice "slice" "list<A>.(int,int):list<A>";
    Flatten "flatten" "list<dyn>.():list<dyn>" "list<dyn>.(int):list<dyn>";
    Sort "sort" "list<A>.():list<A>";
    Distinct "distinct" "list<A>.():list<A>";
    Reverse "reverse" "list<A>.():list<A>";
    First "first" "list<A>.():optional<A>";
    Last "last" "list<A>.():optional<A>";
    Range "lists.range" "(int):list<int>";
    SetsContains "sets.contains" "(list<A>,list<A>):bool";
    SetsEquivalent "sets.equivalent" "(list<A>,list<A>):bool";
    SetsIntersects "sets.intersects" "(list<A>,list<A>):bool";
    OptionalOf "optional.of" "(A):optional<A>";
    OptionalOfNonZero "optional.ofNonZeroValue" "(A):optional<A>";
    OptionalNone "optional.none" "():optional<A>";
    HasValue "hasValue" "optional<A>.():bool";
    Value "value" "optional<A>.():A";
    Or "or" "optional<A>.(optional<A>):optional<A>";
    OrValue "orValue" "optional<A>.(A):A";
    Url "url" "(string):url";
    IsUrl "isURL" "(string):bool";
    Scheme "getScheme" "url.():string";
    Host "getHost" "url.():string";
    Hostname "getHostname" "url.():string";
    Port "getPort" "url.():string";
    EscapedPath "getEscapedPath" "url.():string";
    Query "getQuery" "url.():map<string,list<string>>";
    Ip "ip" "(string):ip" "cidr.():ip";
    IsIp "isIP" "(string):bool";
    IsCanonical "ip.isCanonical" "(string):bool";
    Family "family" "ip.():int";
    IsUnspecified "isUnspecified" "ip.():bool";
    IsLoopback "isLoopback" "ip.():bool";
    IsLinkLocalMulticast "isLinkLocalMulticast" "ip.():bool";
    IsLinkLocalUnicast "isLinkLocalUnicast" "ip.():bool";
    IsGlobalUnicast "isGlobalUnicast" "ip.():bool";
    Cidr "cidr" "(string):cidr";
    IsCidr "isCIDR" "(string):bool";
    ContainsIp "containsIP" "cidr.(string):bool" "cidr.(ip):bool";
    ContainsCidr "containsCIDR" "cidr.(string):bool" "cidr.(cidr):bool";
    Masked "masked" "cidr.():cidr";
    PrefixLength "prefixLength" "cidr.():int";
    Quantity "quantity" "(string):quantity";
    IsQuantity "isQuantity" "(string):bool";
    IsInteger "isInteger" "quantity.():bool";
    AsInteger "asInteger" "quantity.():int";
    AsFloat "asApproximateFloat" "quantity.():double";
    Sign "sign" "quantity.():int";
    QuantityAdd "add" "quantity.(quantity):quantity" "quantity.(int):quantity";
    QuantitySub "sub" "quantity.(quantity):quantity" "quantity.(int):quantity";
    IsLessThan "isLessThan" "quantity.(quantity):bool" "semver.(semver):bool";
    IsGreaterThan "isGreaterThan" "quantity.(quantity):bool" "semver.(semver):bool";
    CompareTo "compareTo" "quantity.(quantity):int" "semver.(semver):int";
    Semver "semver" "(string):semver" "(string,bool):semver";
    IsSemver "isSemver" "(string):bool" "(string,bool):bool";
    Major "major" "semver.():int";
    Minor "minor" "semver.():int";
    Patch "patch" "semver.():int";
    NamedFormat "format.named" "(string):optional<format>";
    FormatDns1123Label "format.dns1123Label" "():format";
    FormatDns1123Subdomain "format.dns1123Subdomain" "():format";
    FormatDns1035Label "format.dns1035Label" "():format";
    FormatQualifiedName "format.qualifiedName" "():format";
    FormatDns1123LabelPrefix "format.dns1123LabelPrefix" "():format";
    FormatDns1123SubdomainPrefix "format.dns1123SubdomainPrefix" "():format";
    FormatDns1035LabelPrefix "format.dns1035LabelPrefix" "():format";
    FormatLabelValue "format.labelValue" "():format";
    FormatUri "format.uri" "():format";
    FormatUuid "format.uuid" "():format";
    FormatByte "format.byte" "():format";
    FormatDate "format.date" "():format";
    FormatDatetime "format.datetime" "():format";
    Validate "validate" "format.(string):optional<list<string>>";
    AuthPath "path" "authorizer.(string):authorizer";
    AuthGroup "group" "authorizer.(string):authorizer";
    AuthServiceAccount "serviceAccount" "authorizer.(string,string):authorizer";
    AuthResource "resource" "authorizer.(string):authorizer";
    AuthSubresource "subresource" "authorizer.(string):authorizer";
    AuthNamespace "namespace" "authorizer.(string):authorizer";
    AuthName "name" "authorizer.(string):authorizer";
    AuthFieldSelector "fieldSelector" "authorizer.(string):authorizer";
    AuthLabelSelector "labelSelector" "authorizer.(string):authorizer";
    AuthCheck "check" "authorizer.(string):authorizer";
    AuthAllowed "allowed" "authorizer.():bool";
    AuthReason "reason" "authorizer.():string";
    AuthErrored "errored" "authorizer.():bool";
    AuthError "error" "authorizer.():string";
}

/// A signature of a function.
#[derive(Debug)]
pub(crate) struct Signature {
    /// Whether the first argument is the receiver.
    pub is_method: bool,
    pub args: Vec<Type>,
    pub result: Type,
}

/// A function with its signatures.
#[derive(Debug)]
pub(crate) struct Function {
    pub fun: Fun,
    pub signatures: Vec<Signature>,
}

/// The function of this name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    static FUNCTIONS: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
    let functions = FUNCTIONS.get_or_init(|| {
        TABLE
            .iter()
            .map(|(fun, name, signatures)| {
                let signatures = signatures.iter().map(|text| signature(text)).collect();
                (*name, Function { fun: *fun, signatures })
            })
            .collect()
    });
    functions.get(name)
}

/// The name of a function in messages: operators as they are written.
pub(crate) fn shown(fun: Fun) -> &'static str {
    let name = TABLE.iter().find(|row| row.0 == fun).map_or("?", |row| row.1);
    name.trim_matches(['_', '@'])
}

/// Whether a name is the prefix of functions: `sets.contains`.
pub(crate) fn is_namespace(name: &str) -> bool {
    matches!(name, "sets" | "optional" | "lists" | "strings" | "format" | "ip")
}

fn signature(text: &'static str) -> Signature {
    let mut rest = text;
    let mut args = Vec::new();
    let is_method = !rest.starts_with('(');
    if is_method {
        args.push(Type::read(&mut rest));
        rest = rest.strip_prefix('.').expect("a signature is well-formed");
    }
    rest = rest.strip_prefix('(').expect("a signature is well-formed");
    while !rest.starts_with(')') {
        args.push(Type::read(&mut rest));
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    let mut result = rest.strip_prefix("):").expect("a signature is well-formed");
    let result = Type::read(&mut result);
    Signature { is_method, args, result }
}
