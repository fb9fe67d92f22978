"""Know the keys of providers by what they begin with: a row for each kind.

A row makes the pattern of whole keys, of keys that are cut off, and the quick test whether a text may have one.
"""

from __future__ import annotations

from gemini_live_runtime.secret_patterns.prefix import (
    ANY,
    BASE62,
    BASE64,
    CAPITAL,
    DOTTED,
    HEX,
    LOWER,
    NO_DASH,
    NO_UNDERSCORE,
    PADDED,
    URL,
    UUID,
    Prefix,
)

_LIKE_UUID = rf"(?={HEX}{{8}}-{HEX}{{4}}-)"
_MIXED_HEX = r"(?=[a-f]{0,31}[0-9])(?=[0-9]{0,31}[a-f])"
_WITH_DIGIT = r"(?=[a-f]{0,31}[0-9])"
_OF_AWS = r"(?=[0-9A-Z]{16}(?![0-9A-Za-z]))"
_OF_DISCORD = rf"(?={ANY}{{6}}[.]{ANY}{{27}})"


def _word(pattern: str, signs: str, least: int, telling: int = 6, *, literal: str = "", form: str = "") -> Prefix:
    """Return the row of a prefix that words, too, may follow."""
    return Prefix(pattern, signs, least, telling, literal=literal, form=form)


def _key(
    pattern: str,
    signs: str,
    least: int,
    telling: int = 6,
    *,
    literal: str = "",
    form: str = "",
    lead: str = "",
    cut_lead: str = "",
) -> Prefix:
    """Return the row of a prefix after which `least` signs are always a key."""
    return Prefix(
        pattern, signs, least, telling, is_unlike=True, literal=literal, form=form, lead=lead, cut_lead=cut_lead
    )


def _value(pattern: str, signs: str, least: int, literal: str) -> Prefix:
    """Return the row of a value that is secret after what stands before it."""
    return Prefix(pattern, signs, least, is_unlike=True, literal=literal, is_public=True)


PREFIXES = (
    # Google
    Prefix("AIza", ANY, 10, 1, is_unlike=True, is_anywhere=True),
    Prefix("ya29[.]", DOTTED, 1, 1, is_unlike=True, is_anywhere=True),
    Prefix("auth_tokens/", DOTTED, 1, 1, is_unlike=True, is_anywhere=True),
    _word("AQ[.]", ANY, 20),
    _word("1//0", ANY, 20),
    _key("GOCSPX-", ANY, 16, 2),
    _word("4/0A", ANY, 30),
    # models: OpenAI, Anthropic, OpenRouter and others; xAI, Groq, Perplexity, Tavily, NVIDIA, Cerebras, Together,
    # Hugging Face, Replicate, LangSmith, ElevenLabs, Fireworks, Jina, Firecrawl, Pinecone, RunPod, E2B, Voyage
    _word("sk-", ANY, 20),
    _key("xai-", BASE62, 40),
    _key("gsk_", BASE62, 40),
    _key("pplx-", BASE62, 32),
    _key("tvly-", ANY, 24),
    _key("nvapi-", ANY, 40),
    _key("csk-", BASE62, 40),
    _key("tgp_v1_", ANY, 36),
    _word("hf_", BASE62, 30),
    _word("api_org_", BASE62, 30),
    _key("r8_", BASE62, 30),
    _key("lsv2_[ps][kt]_", NO_DASH, 32, literal="lsv2_"),
    _word("sk_", HEX, 40),
    _word("fw_", BASE62, 22),
    _word("jina_", NO_DASH, 48),
    _key("fc-", HEX, 32),
    _key("pcsk_", NO_DASH, 40),
    _word("rpa_", CAPITAL, 36),
    _key("e2b_", HEX, 36),
    _word("pa-", ANY, 40),
    # code: GitHub, GitLab, Atlassian, Bitbucket, SonarQube, Sourcegraph, CircleCI, Buildkite, Octopus, Harness, Adobe
    _word("gh[opsur]_", NO_DASH, 20, literal="gh"),
    _key("github_pat_", NO_DASH, 20, 2),
    _key("gl(?:pat|ptt|oas|imt|cbt|rtr)-", DOTTED, 20, 2, literal="gl"),
    _word("gl[dfrw]t-", DOTTED, 20, 2, literal="gl"),
    _key("gl(?:soat|ffct)-", DOTTED, 20, 2, literal="gl"),
    _key("glagent-", ANY, 20, 2),
    _key("GR1348941", ANY, 20, 2),
    _key("AT[AC]TT3", PADDED, 50, literal="TT3"),
    _word("ATBB", PADDED, 20),
    _key("sq[abpu]_", HEX, 40, literal="sq"),
    _key("sgp_", NO_DASH, 40),
    _key("CCIPAT_", NO_DASH, 40),
    _key("bkua_", BASE62, 36),
    _word("API-", CAPITAL, 25),
    _word("[ps]at[.]", DOTTED, 60, literal="at."),
    _key("p8e-", ANY, 32),
    # packages: npm, PyPI, RubyGems, crates.io, NuGet, Clojars, Docker, JFrog
    _word("npm_", BASE62, 36),
    _word("pypi-", ANY, 50),
    _key("rubygems_", HEX, 40),
    _word("cio", BASE62, 32, 10),
    _key("oy2", LOWER, 43, 10),
    _key("CLOJARS_", BASE62, 40),
    _key("dckr_[po]at_", ANY, 20, literal="dckr_"),
    _key("AKCp", BASE62, 60),
    _key("cmVmd", BASE62, 50),
    # work: Figma, Linear, Notion, Airtable, Contentful, Postman, Typeform, ReadMe, Frame.io, HubSpot, Dropbox
    _key("fig[dopu]_", ANY, 36, literal="fig"),
    _key("lin_api_", BASE62, 32),
    _key("lin_oauth_", BASE62, 32),
    _key("ntn_", BASE62, 36),
    _word("secret_", BASE62, 40),
    _key("pat[0-9A-Za-z]{14}[.]", HEX, 40, literal="pat"),
    _key("CFPAT-", ANY, 40),
    _key("PMAK-", UUID, 40),
    _word("tfp_", DOTTED, 40),
    _key("rdme_", LOWER, 60),
    _key("fio-u-", ANY, 50),
    _key("pat-(?:na|eu|ap)[0-9]-", UUID, 36, literal="pat-"),
    _word("sl[.]", DOTTED, 100),
    # clouds: AWS, Alibaba, Tencent, Yandex, DigitalOcean, Cloudflare, Fly, Heroku, Vercel, Netlify, Supabase,
    # PlanetScale, Prefect, Pulumi, Databricks, Scalingo, Tailscale, Infracost, OpenShift
    _key("A(?:KI|SI|BI|CC)A", CAPITAL, 16, 4, literal="A", form=_OF_AWS),
    _key("ABSK", BASE64, 80),
    _key("bedrock-api-key-", BASE64, 20),
    _word("LTAI", BASE62, 12),
    _word("AKID", BASE62, 32),
    _word("AQVN", ANY, 35),
    _word("YCA", ANY, 36),
    _key("do[opr]_v1_", HEX, 40, literal="_v1_"),
    _key("cfk_", BASE62, 40),
    _key("cf[ua]t_", BASE62, 40, literal="cf"),
    _key("v1[.]0-", UUID, 80),
    _key("fm1[ar]_", BASE64, 60, literal="fm1"),
    _key("fm2_", BASE64, 60),
    _key("fo1_", ANY, 40),
    _key("HRKU-", ANY, 30),
    _key("vercel_blob_rw_", ANY, 24),
    _word("vc[aciprk]_", BASE62, 24, literal="vc"),
    _word("nf[pcoub]_", BASE62, 36, literal="nf"),
    _key("sbp_", HEX, 40),
    _word("sb_secret_", ANY, 24),
    _key("pscale_tkn_", DOTTED, 32),
    _key("pscale_pw_", DOTTED, 32),
    _key("pscale_oauth_", DOTTED, 32),
    _key("pn[ub]_", BASE62, 36, literal="pn"),
    _key("pul-", HEX, 40),
    _key("dapi", HEX, 32, form=_WITH_DIGIT),
    _key("dose", HEX, 32, form=_WITH_DIGIT),
    _key("tk-us-", ANY, 40),
    _key("tskey-", NO_UNDERSCORE, 24),
    _word("ico-", BASE62, 32),
    _key("sha256~", ANY, 40),
    # Azure: secrets of clients, keys that name their service, DevOps; signed URLs of Azure, AWS and Google
    _key(r"[0-9A-Za-z_\-.~]{3}[0-9]Q~", r"[0-9A-Za-z_\-.~]", 30, literal="Q~"),
    _key("[0-9A-Za-z]{52}JQQJ99", BASE62, 20, literal="JQQJ99", lead=f"{BASE62}{{40,57}}"),
    _key("[0-9A-Za-z+/]{40}Az(?:Se|Fu|Ca)", BASE64, 8, literal="Az", lead="[0-9A-Za-z+/]{40,43}"),
    _key("[0-9A-Za-z]{76}AZDO", BASE62, 4, 1, literal="AZDO", lead=f"{BASE62}{{40,79}}"),
    _value("[?&;]sig=", URL, 20, "sig="),
    _value("[Ss]ignature=", URL, 32, "ignature="),
    # secrets: age, HashiCorp Vault and Terraform, 1Password, Doppler, Defined Networking, Dynatrace
    _key("AGE-SECRET-KEY-", CAPITAL, 50),
    _word("hv[sbr][.]", ANY, 24, literal="hv"),
    _key("[0-9A-Za-z]{14}[.]atlasv1[.]", PADDED, 50, 2, literal=".atlasv1."),
    _key("ops_", BASE64, 60),
    _key("A3-", r"[0-9A-Z\-]", 30, form=r"(?=[0-9A-Z]{6}-)"),
    _key("dp[.](?:ct|pt|st|sa)[.]", DOTTED, 40, literal="dp."),
    _key("dp[.]scim[.]", DOTTED, 40),
    _key("dp[.]audit[.]", DOTTED, 40),
    _key("dnkey-", PADDED, 40),
    _key("dt0[cs][0-9]{2}[.]", DOTTED, 60, literal="dt0"),
    # meters and mail: Grafana, New Relic, PostHog, Sentry, Rootly, Mapbox, LaunchDarkly; SendGrid, Mailgun, Mailchimp,
    # Brevo, Resend
    _key("glsa_", PADDED, 32),
    _key("glc_", PADDED, 32),
    _key("eyJrIjoi", BASE64, 60),
    _key("NR(?:AK|II|IQ|RA|JS|BR)-", ANY, 18, literal="NR"),
    _key("phx_", BASE62, 36),
    _key("sntry[su]_", PADDED, 40, literal="sntry"),
    _key("rootly_", HEX, 60),
    _key("sk[.]eyJ", DOTTED, 40),
    _key("sdk-", UUID, 36, form=_LIKE_UUID),
    _word("SG[.]", DOTTED, 34),
    _key("key-", HEX, 32),
    _key(
        "[0-9a-f]{32}-",
        r"[0-9a-f\-]",
        17,
        literal="-",
        form=rf"(?={HEX}{{8}}-{HEX}{{8}}(?!{UUID}))",
        lead=rf"{_MIXED_HEX}{HEX}{{8,32}}",
        # Longer than the short name of a commit, and shorter than an MD5 hash.
        cut_lead=rf"{_MIXED_HEX}{HEX}{{13,31}}",
    ),
    _key("[0-9a-f]{32}-us", "[0-9]", 1, 1, literal="-us", lead=f"{HEX}{{32}}-?u?"),
    _key("xkeysib-", ANY, 60),
    _key("xsmtpsib-", ANY, 60),
    _word("re_", NO_DASH, 30, form="(?=[0-9A-Za-z]{8}_)"),
    # talk: Slack, Discord, Telegram, Twilio, Meta, Twitter
    _key("xapp-", NO_UNDERSCORE, 10, 4),
    _key("[MNO][0-9A-Za-z]{22}[.]", DOTTED, 34, literal=".", form=_OF_DISCORD),
    _key("[MNO][0-9A-Za-z]{23}[.]", DOTTED, 34, literal=".", form=_OF_DISCORD),
    _key("[MNO][0-9A-Za-z]{25}[.]", DOTTED, 34, literal=".", form=_OF_DISCORD),
    _word("mfa[.]", ANY, 60),
    _key("SK", "[0-9a-f]", 32, 10),
    _key("AC", "[0-9a-f]", 32, 10),
    _word("EAA", BASE62, 56),
    _key("AAAAAAAAAAAAAAAAAAAAAA", r"[0-9A-Za-z%]", 60),
    # money: Stripe, Square, Shopify, Braintree, Flutterwave, Duffel, EasyPost, Shippo, Paddle
    _key("[rs]k_(?:live|test|prod)_", BASE62, 16, 2, literal="k_"),
    _key("whsec_", BASE64, 16, 2),
    _key("sq0(?:at|cs|id)p-", ANY, 20, literal="sq0"),
    _key("shp(?:at|ca|pa|ss)_", HEX, 32, literal="shp"),
    _key("access_token[$]production[$]", r"[0-9a-z$]", 32),
    _key("FLWSECK-", LOWER, 32),
    _key("FLWSECK_TEST-", LOWER, 12),
    _key("duffel_(?:test|live)_", PADDED, 40, literal="duffel_"),
    _key("EZ[AT]K", BASE62, 50, literal="EZ"),
    _key("xprv", BASE62, 100),
    _key("nsec1", LOWER, 58),
    _key("shippo_(?:live|test)_", HEX, 40, literal="shippo_"),
    _key("pdl_(?:live|sdbx)_apikey_", NO_DASH, 40, literal="pdl_"),
)
